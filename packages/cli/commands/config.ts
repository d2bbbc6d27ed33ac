import { EXIT, CliError, messageOf } from '../cli-error.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { columnsOf, styled } from '../output/terminal.ts';
import { renderTable } from '../output/table.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import type { SvcCommand } from '../svc-command.ts';
import { checkBoot } from '@svc/server/config/boot-checks.ts';
import type { Config } from '@svc/server/config/load.ts';
import type { BootProblem } from '@svc/server/config/boot-report.ts';
import { checkLogSink } from '@svc/server/logs/objects/open-store.ts';
import { checkLogFolder } from '@svc/server/logs/check-folder.ts';
import { REFERENCE_SECTIONS } from '@svc/server/config/reference/reference-sections.ts';
import { effectiveJson, effectiveRows } from '@svc/server/config/render-effective.ts';
import type { EffectiveRow } from '@svc/server/config/render-effective.ts';
import { checkTlsFiles } from '@svc/server/tls/tls-files.ts';

type Options = ConfigOptions & { json?: true; check?: true };

export function addConfigCommand(program: SvcCommand, context: CliContext): void {
  withConfigOptions(program.command('config'))
    .description('Show every effective configuration value and where it comes from; secrets are masked')
    .option('--json', 'print JSON')
    .option('--check', 'exit with 2 when the control plane would refuse to start')
    .example('what would this environment run with?', 'svc config --config server.yaml')
    .example('in a deployment pipeline', 'svc config --config server.yaml --check')
    .action((options: Options) => showConfig(context, options));
}

async function showConfig(context: CliContext, options: Options): Promise<void> {
  const loaded = loadServerConfig(context, options);
  const [boot, files] = [checkBoot(loaded.config), checkTlsFiles(loaded.config)];
  const errors = [...boot.errors, ...files.errors, ...checkLogFolder(loaded.config)];
  // Only a check calls other services. Showing the configuration must work without them.
  const isAsking = options.check === true && errors.length === 0;
  const sink = isAsking ? await checkLogSink(loaded.config) : { errors: [], warnings: [] };
  const asked = isAsking ? await askProvider(context, loaded.config) : [];
  const database = isAsking ? await askDatabase(loaded.config) : { errors: [], warnings: [] };
  const warnings = [boot, files, sink, database].flatMap((report) => report.warnings);
  warnings.unshift(...loaded.warnings);
  warnings.push(...asked);
  const problems = [...errors, ...sink.errors, ...database.errors].map(({ key, message }) => ({ key, message }));
  if (options.json) {
    printJson(context, { values: effectiveJson(loaded.entries), warnings, problems });
  } else {
    context.stdout.write(sections(context, effectiveRows(loaded.entries)));
  }
  for (const warning of warnings) warn(context, warning);
  if (problems.length === 0) return;
  const list = problems.map(({ message }) => `  - ${message}`).join('\n');
  if (options.check) throw new CliError(`the control plane would not start:\n${list}`, { exitCode: EXIT.usage });
  context.stderr.write(`hint: the control plane would not start with this:\n${list}\n`);
}

/**
 * Checks the database. The control plane starts without it and waits. However, a proxy in between may be one that it
 * cannot work with.
 */
async function askDatabase(config: Config): Promise<{ errors: BootProblem[]; warnings: string[] }> {
  const { DatabasePathError, checkDatabasePath } = await import('@svc/server/db/database-path.ts');
  try {
    await checkDatabasePath(config);
    return { errors: [], warnings: [] };
  } catch (error) {
    if (error instanceof DatabasePathError)
      return { errors: [{ key: 'database.url', message: error.message }], warnings: [] };
    const warning = `the database could not be asked from here (${messageOf(error)}): the control plane starts, and waits for it`;
    return { errors: [], warnings: [warning] };
  }
}

/**
 * Checks the identity provider. The control plane starts without it, but the operator should know beforehand whether it
 * answers.
 */
async function askProvider(context: CliContext, { auth }: Config): Promise<string[]> {
  if (auth.provider !== 'oidc') return [];
  const { createProvider } = await import('@svc/server/auth/oidc/provider.ts');
  let why = '';
  const log = { warn: ({ err }: { err?: unknown }) => void (why = deepestReason(err)) };
  try {
    const { issuer, hasLogout, hasDeviceCodes } = await createProvider({ settings: auth.oidc, log }).facts();
    context.stderr.write(
      `The identity provider ${issuer} answers; logout there: ${hasLogout ? 'yes' : 'no'}; device codes: ${hasDeviceCodes ? 'yes' : 'no'}.\n`,
    );
    return [];
  } catch {
    return [
      `auth.oidc.issuer: ${auth.oidc.issuer} could not be asked from here (${why}): the control plane starts, and nobody can sign in until it can`,
    ];
  }
}

/** Returns the innermost cause, because `fetch failed` explains nothing. */
function deepestReason(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? deepestReason(error.cause) : messageOf(error);
}

function sections(context: CliContext, rows: readonly EffectiveRow[]): string {
  const { stdout } = context;
  const sectionOf = new Map<string, string>(
    // `Server (`server.*`)` → `Server`
    REFERENCE_SECTIONS.flatMap(({ title, keys }) => keys.map((key) => [key, title.replace(/ \(`.*$/, '')] as const)),
  );
  return renderTable({
    columns: [
      { title: 'KEY', value: (row) => row.key },
      { title: 'VALUE', value: (row) => row.value },
      { title: 'FROM', value: (row) => (row.source === 'default' ? 'default' : row.origin) },
    ],
    rows,
    groupOf: (row) => sectionOf.get(row.key) ?? 'Other',
    width: columnsOf(stdout),
    styleHeader: (line) => styled(stdout, 'bold', line),
  });
}
