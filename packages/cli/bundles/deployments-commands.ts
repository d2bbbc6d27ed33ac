import type { Deployment, ListedDeployment } from '@svc/client/wire-types.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printFields } from '../output/fields.ts';
import { printTable } from '../output/terminal.ts';
import { count, timeText } from '../output/wording.ts';
import type { SvcCommand } from '../svc-command.ts';

type ListOptions = ClientCommandOptions & { limit: string };
type RollbackOptions = ClientCommandOptions & { to?: string; dag?: boolean };
type ChangeRow = { dag: string; change: string; before: number | null; after: number | null };

const SHORT = 12;

export function addDeploymentsCommands(program: SvcCommand, context: CliContext): void {
  const deployments = program.command('deployments').description('What was deployed from a bundle, and when');

  withClientOptions(deployments.command('list'))
    .description('List the deployments of a bundle, newest first')
    .argument('<bundle>', 'name of the bundle')
    .option('--limit <number>', 'how many at most', '20')
    .action((bundle: string, options: ListOptions) => list(context, bundle, options));

  withClientOptions(deployments.command('show'))
    .description('Show a deployment and what it changed')
    .argument('<bundle>', 'name of the bundle')
    .argument('[deployment]', 'its number (default: the current one)')
    .action((bundle: string, number: string | undefined, options: ClientCommandOptions) =>
      show(context, bundle, number, options),
    );

  withClientOptions(deployments.command('diff'))
    .description('Show which DAGs differ between two deployments')
    .argument('<bundle>', 'name of the bundle')
    .argument('<from>', 'number of the older deployment')
    .argument('[to]', 'number of the newer one (default: the current one)')
    .action((bundle: string, from: string, to: string | undefined, options: ClientCommandOptions) =>
      diff(context, bundle, { from, to }, options),
    );

  withClientOptions(program.command('rollback'))
    .description('Make an older deployment of a bundle, or an older version of a DAG, current again')
    .argument('<bundle|dag>', 'name of the bundle, or id of the DAG')
    .option('--to <number>', 'the deployment or version (default: the one before the current one)')
    .option('--dag', 'it is a DAG, although a bundle has this name, too')
    .note(
      'What is undone is not deployed again before it changes in a newer commit, or "svc bundles sync" asks for it.',
    )
    .example('undo the last push', 'svc rollback etl')
    .example('undo the last change of one DAG', 'svc rollback daily_sales')
    .action((name: string, options: RollbackOptions) => rollback(context, name, options));
}

function numberOf(text: string, what: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`${what} ${text} is no number of a deployment`, 'write such as 3');
  return Number(text);
}

async function list(context: CliContext, bundle: string, options: ListOptions): Promise<void> {
  const limit = numberOf(options.limit, '--limit');
  const client = await connect(context, options);
  const { deployments } = await client.get('/api/v2/bundles/{bundle}/deployments', {
    path: { bundle },
    query: { limit: Math.min(limit, 1_000) },
  });
  if (options.json) {
    printJson(context, deployments);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'DEPLOYMENT', value: (row) => `${row.deployment}${row.is_current ? ' (current)' : ''}` },
      { title: 'WHEN', value: (row) => timeText(row.created_at) },
      { title: 'COMMIT', value: (row) => row.version.slice(0, SHORT) },
      { title: 'CHANGED', value: (row) => count(row.changed, 'DAG') },
      { title: 'AUTHOR', value: (row) => row.author },
      { title: 'WHAT', value: whatOf },
    ],
    rows: deployments,
  });
}

function whatOf({ kind, repeats, message }: ListedDeployment): string {
  if (kind === 'dag_rollback') return `one DAG of deployment ${repeats} undone`;
  return kind === 'rollback' ? `back to deployment ${repeats}` : (message.split('\n')[0] ?? '');
}

async function find(client: Client, bundle: string, number: string | undefined): Promise<Deployment> {
  const wanted = number === undefined ? await currentOf(client, bundle) : numberOf(number, 'the deployment');
  return client.get('/api/v2/bundles/{bundle}/deployments/{deployment}', {
    path: { bundle, deployment: wanted },
  });
}

async function currentOf(client: Client, bundle: string): Promise<number> {
  const { current } = await client.get('/api/v2/bundles/{bundle}', { path: { bundle } });
  if (!current) throw usageError(`nothing of ${bundle} has been deployed yet`, `"svc bundles show ${bundle}" says why`);
  return current.deployment;
}

async function show(
  context: CliContext,
  bundle: string,
  number: string | undefined,
  options: ClientCommandOptions,
): Promise<void> {
  const found = await find(await connect(context, options), bundle, number);
  if (options.json) {
    printJson(context, found);
    return;
  }
  printFields(context.stdout, [
    ['Deployment', `${found.deployment} of ${found.bundle_name}${found.is_current ? ' (current)' : ''}`],
    ['When', `${timeText(found.created_at)} UTC, by ${found.created_by}`],
    ['Repeats', found.repeats === null ? null : `deployment ${found.repeats}`],
    ['Commit', found.version],
    ['Author', found.author || null],
    ['Message', found.message.split('\n')[0] || null],
    ['Link', found.url],
    ['DAGs', Object.keys(found.dags).length],
  ]);
  printChanges(
    context,
    Object.entries(found.changes).map(([dag, change]) => ({ dag, ...change })),
  );
}

async function diff(
  context: CliContext,
  bundle: string,
  { from, to }: { from: string; to: string | undefined },
  options: ClientCommandOptions,
): Promise<void> {
  const client = await connect(context, options);
  const [older, newer] = [await find(client, bundle, from), await find(client, bundle, to)];
  const ids = [...new Set([...Object.keys(older.dags), ...Object.keys(newer.dags)])].sort();
  const rows = ids.flatMap((dag): ChangeRow[] => {
    const [before, after] = [older.dags[dag]?.version ?? null, newer.dags[dag]?.version ?? null];
    if (before === after) return [];
    return [{ dag, change: before === null ? 'added' : after === null ? 'removed' : 'changed', before, after }];
  });
  if (options.json) printJson(context, { from: older.deployment, to: newer.deployment, changes: rows });
  else if (rows.length === 0) context.stdout.write('The same versions of the same DAGs.\n');
  else printChanges(context, rows);
}

const versionText = (number: number | null): string => (number === null ? '-' : `v${number}`);

function printChanges(context: CliContext, rows: readonly ChangeRow[]): void {
  if (rows.length === 0) return;
  context.stdout.write('\n');
  printTable(context.stdout, {
    columns: [
      { title: 'DAG', value: (row) => row.dag },
      { title: 'CHANGE', value: (row) => row.change },
      { title: 'BEFORE', value: (row) => versionText(row.before) },
      { title: 'AFTER', value: (row) => versionText(row.after) },
    ],
    rows,
  });
}

async function rollback(context: CliContext, name: string, options: RollbackOptions): Promise<void> {
  const body = options.to === undefined ? {} : { to: numberOf(options.to, '--to') };
  const client = await connect(context, options);
  if (options.dag || !(await isBundle(client, name))) return rollbackDag(context, client, { name, body, options });
  const made = await client.post('/api/v2/bundles/{bundle}/rollback', { path: { bundle: name }, body });
  if (options.json) {
    printJson(context, made);
    return;
  }
  const changed = count(made.changed, 'DAG');
  context.stdout.write(
    `${name} is back to deployment ${made.repeats} (${made.version.slice(0, SHORT)}), ${changed} changed. This is deployment ${made.deployment}.\n`,
  );
}

async function rollbackDag(
  context: CliContext,
  client: Client,
  { name, body, options }: { name: string; body: { to?: number }; options: RollbackOptions },
): Promise<void> {
  const made = await client.post('/api/v2/dags/{dag_id}/rollback', { path: { dag_id: name }, body });
  if (options.json) {
    printJson(context, made);
    return;
  }
  const deployment = made.deployment === null ? '' : ` and deployment ${made.deployment} of ${made.bundle_name}`;
  context.stdout.write(
    `${name} is back to the content of version ${made.repeats}. This is version ${made.version}${deployment}.\n`,
  );
}

async function isBundle(client: Client, bundle: string): Promise<boolean> {
  try {
    await client.get('/api/v2/bundles/{bundle}', { path: { bundle } });
    return true;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return false;
    throw error;
  }
}
