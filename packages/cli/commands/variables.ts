import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { usageError } from '../cli-error.ts';
import { bulkCreate } from '../client/bulk.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { formatOf, readEntries, renderEntries, writeOutput } from '../files/structured-file.ts';
import { exportedVariable, isMaskedSecret, variableOf } from '../files/variable-file.ts';
import { printTable } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { count } from '../output/wording.ts';
import { readStdin } from '../prompt.ts';
import type { SvcCommand } from '../svc-command.ts';
import { reportImport, withExportOptions, withImportOptions } from '../files/transfer-options.ts';
import type { ExportOptions, ImportOptions } from '../files/transfer-options.ts';

type SetOptions = ClientCommandOptions & { description?: string };

export function addVariablesCommands(program: SvcCommand, context: CliContext): void {
  const variables = program.command('variables').description('Manage variables');

  withClientOptions(variables.command('list'))
    .description('List variables; values of sensitive keys are masked')
    .action((options: ClientCommandOptions) => list(context, options));

  withClientOptions(variables.command('get'))
    .description('Print the value of a variable')
    .argument('<key>', 'key of the variable')
    .action((key: string, options: ClientCommandOptions) => get(context, key, options));

  withClientOptions(variables.command('set'))
    .description('Create a variable or change it')
    .argument('<key>', 'key of the variable')
    .argument('[value]', 'its value; "-" reads it from standard input, as a sensitive key demands')
    .option('--description <text>', 'what it is for')
    .example('a plain value', 'svc variables set region eu-central-1')
    .example('a secret one', 'svc variables set api_token - < token.txt')
    .action((key: string, value: string | undefined, options: SetOptions) => set(context, { key, value, options }));

  withClientOptions(variables.command('delete'))
    .description('Delete variables')
    .argument('<keys...>', 'keys of the variables')
    .action((keys: string[], options: ClientCommandOptions) => remove(context, keys, options));

  withImportOptions(variables.command('import'))
    .description('Create or change variables from a file: a map of keys to values or to {value, description}')
    .example('what Airflow wrote with "airflow variables export"', 'svc variables import variables.json')
    .action((file: string, options: ImportOptions) => importFile(context, file, options));

  withExportOptions(variables.command('export'))
    .description('Write all variables to a file, those with sensitive keys masked')
    .action((options: ExportOptions) => exportAll(context, options));
}

async function list(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const variables = await client.list('/api/v2/variables', 'variables');
  if (options.json) {
    printJson(context, variables);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'KEY', value: (row) => row.key },
      { title: 'VALUE', value: (row) => row.value },
      { title: 'DESCRIPTION', value: (row) => row.description ?? '' },
    ],
    rows: variables,
  });
}

/** Prints only the value, unchanged, for `$(svc variables get …)`. */
async function get(context: CliContext, key: string, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const variable = await client.get('/api/v2/variables/{variable_key}', { path: { variable_key: key } });
  if (options.json) {
    printJson(context, variable);
    return;
  }
  const { stdout } = context;
  stdout.write(`${stdout.isTTY ? printable(variable.value) : variable.value}\n`);
  if (isMaskedSecret(variable)) warn(context, 'the API does not show secret values: *** stands for one');
}

async function set(
  context: CliContext,
  input: { key: string; value: string | undefined; options: SetOptions },
): Promise<void> {
  const { key, value, options } = input;
  if (value === undefined && options.description === undefined) throw usageError('give a value, or --description');
  if (value !== undefined && value !== '-' && isSensitiveName(key)) {
    throw usageError(
      `the value of ${key} looks like a secret, and arguments show in process lists and shell histories`,
      `give it on standard input: svc variables set ${key} -`,
    );
  }
  const text = value === '-' ? await readStdin(context) : value;
  const client = await connect(context, options);
  const variable = await client.post('/api/v2/variables', {
    body: {
      key,
      ...(text !== undefined && { value: text }),
      ...(options.description !== undefined && { description: options.description }),
    },
  });
  if (options.json) printJson(context, variable);
  else context.stdout.write(`Set ${key}.\n`);
}

async function remove(context: CliContext, keys: readonly string[], options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  for (const key of keys) await client.delete('/api/v2/variables/{variable_key}', { path: { variable_key: key } });
  if (options.json) printJson(context, { deleted: keys });
  else context.stdout.write(`Deleted ${count(keys.length, 'variable')}.\n`);
}

async function importFile(context: CliContext, file: string, options: ImportOptions): Promise<void> {
  const entries = await readEntries(context, file, formatOf(file === '-' ? undefined : file, options.format));
  const bodies = entries.map(variableOf);
  const client = await connect(context, options);
  const masked = bodies.filter(isMaskedSecret);
  const existing =
    masked.length === 0 ? [] : (await client.list('/api/v2/variables', 'variables')).map((variable) => variable.key);
  // A mask stands for the stored value. If none is stored, writing the mask would only look like a secret.
  const unknown = new Set(masked.map(({ key }) => key).filter((key) => !existing.includes(key)));
  for (const key of unknown)
    warn(context, `${key} is new here and *** in the file: left out, set it with "svc variables set ${key} -"`);
  const wanted = bodies.filter(({ key }) => !unknown.has(key));
  const written = options.dryRun
    ? []
    : await bulkCreate({
        entities: wanted,
        onExisting: options.onExisting,
        send: (action) => client.patch('/api/v2/variables', { body: { actions: [action] } }),
      });
  reportImport(context, options, { noun: 'variable', names: wanted.map(({ key }) => key), written });
}

async function exportAll(context: CliContext, options: ExportOptions): Promise<void> {
  const format = formatOf(options.file, options.format);
  const client = await connect(context, options);
  const variables = await client.list('/api/v2/variables', 'variables');
  const text = await renderEntries(
    variables.map((variable) => exportedVariable(variable, format)),
    format,
  );
  writeOutput(context, options.file, text);
  const masked = variables.filter(isMaskedSecret).length;
  const note = masked === 0 ? '' : `; ${count(masked, 'secret value')} written as ***`;
  context.stderr.write(`Exported ${count(variables.length, 'variable')}${note}.\n`);
}
