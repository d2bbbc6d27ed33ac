import { Option } from 'commander';
import { ON_EXISTING } from '../client/bulk.ts';
import type { OnExisting } from '../client/bulk.ts';
import { withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { FORMATS } from './structured-file.ts';
import type { FileFormat } from './structured-file.ts';
import { count } from '../output/wording.ts';
import type { SvcCommand } from '../svc-command.ts';

export type ImportOptions = ClientCommandOptions & { format?: FileFormat; onExisting: OnExisting; dryRun?: true };
export type ExportOptions = ClientCommandOptions & { format?: FileFormat; file?: string };

const format = (): Option =>
  new Option('--format <name>', 'format of the file (default: what its name says, else json)').choices(FORMATS);

export const withImportOptions = (command: SvcCommand): SvcCommand =>
  withClientOptions(command)
    .argument('<file>', 'file to read; "-" for standard input')
    .addOption(format())
    .addOption(
      new Option('--on-existing <what>', 'what to do with those that exist').choices(ON_EXISTING).default('overwrite'),
    )
    .option('--dry-run', 'read and check the file, change nothing')
    .note('A value that is *** in the file stays what it is: a file made by export never overwrites a secret.');

export const withExportOptions = (command: SvcCommand): SvcCommand =>
  withClientOptions(command)
    .addOption(format())
    .option('--file <path>', 'file to write, readable by its owner only (default: standard output)');

export function reportImport(
  context: CliContext,
  options: ImportOptions,
  outcome: { noun: string; names: readonly string[]; written: readonly string[] },
): void {
  const { noun, names, written } = outcome;
  const done = new Set(written);
  const skipped = names.filter((name) => !done.has(name));
  if (options.json) {
    printJson(context, { imported: written, skipped, dry_run: options.dryRun === true });
    return;
  }
  if (options.dryRun) {
    context.stdout.write(`${count(names.length, noun)} in the file; nothing was changed.\n`);
    return;
  }
  const rest = skipped.length === 0 ? '' : `, ${skipped.length} existed and stayed as they were`;
  context.stdout.write(`Imported ${count(written.length, noun)}${rest}.\n`);
}
