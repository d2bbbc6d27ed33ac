import { CliError, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import { ask, canAsk } from '../prompt.ts';
import type { SvcCommand } from '../svc-command.ts';
import { addDagDetailsCommands } from './dag-details.ts';
import { DAGS_PATH, dagPath, stateOf, timeText } from './dag-fields.ts';
import type { Dag } from './dag-fields.ts';
import { count } from './transfer-options.ts';

type ListOptions = ClientCommandOptions & {
  tag: string[];
  paused?: true;
  unpaused?: true;
  pattern?: string;
  all?: true;
};

const PAGE = 500;

export function addDagsCommands(program: SvcCommand, context: CliContext): void {
  const dags = program.command('dags').description('Look at registered DAGs, pause and delete them');

  withClientOptions(dags.command('list'))
    .description('List DAGs')
    .option('--tag <name>', 'only with this tag; may be repeated, any of them will do', collect, [])
    .option('--paused', 'only paused ones')
    .option('--unpaused', 'only those that run')
    .option('--pattern <text>', 'only with this in their id; % stands for any text')
    .option('--all', 'also stale ones, whose file is gone')
    .example('what is paused of a team', 'svc dags list --tag sales --paused')
    .action((options: ListOptions) => list(context, options));

  addDagDetailsCommands(dags, context);
  addPause(dags, context);

  withClientOptions(dags.command('delete'))
    .description('Delete DAGs with all their versions')
    .argument('<dag-ids...>', 'ids of the DAGs')
    .option('-y, --yes', 'do not ask')
    .note('A DAG whose project is deployed again comes back, with version 1.')
    .action((ids: string[], options: ClientCommandOptions & { yes?: true }) => remove(context, ids, options));
}

function addPause(dags: SvcCommand, context: CliContext): void {
  for (const [name, isPaused, description] of [
    ['pause', true, 'Start no new runs of DAGs; what runs goes on'],
    ['unpause', false, 'Let DAGs run by their schedule'],
  ] as const) {
    withClientOptions(dags.command(name))
      .description(description)
      .argument('<dag-ids...>', 'ids of the DAGs')
      .action((ids: string[], options: ClientCommandOptions) => setPaused(context, ids, isPaused, options));
  }
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  if (options.paused && options.unpaused) throw usageError('give --paused or --unpaused, not both');
  const dags = await listDags(await connect(context, options), options);
  if (options.json) {
    printJson(context, dags);
    return;
  }
  if (dags.length === 0) {
    context.stderr.write('There are no such DAGs. "svc deploy" registers one.\n');
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'DAG', value: (dag) => dag.dag_id },
      { title: 'STATE', value: stateOf },
      { title: 'SCHEDULE', value: (dag) => dag.timetable_summary ?? '-' },
      { title: 'NEXT RUN', value: (dag) => timeText(dag.next_dagrun_run_after) },
      { title: 'OWNERS', value: (dag) => dag.owners.join(', ') },
      { title: 'TAGS', value: (dag) => dag.tags.map((tag) => tag.name).join(', ') },
    ],
    rows: dags,
  });
}

async function listDags(client: Client, options: ListOptions): Promise<Dag[]> {
  const query = new URLSearchParams(options.tag.map((name): [string, string] => ['tags', name]));
  if (options.paused || options.unpaused) query.set('paused', String(options.paused === true));
  if (options.pattern !== undefined) query.set('dag_id_pattern', options.pattern);
  if (options.all) query.set('exclude_stale', 'false');
  query.set('limit', String(PAGE));
  const dags: Dag[] = [];
  for (;;) {
    query.set('offset', String(dags.length));
    const page = await client.get<{ dags: Dag[]; total_entries: number }>(`${DAGS_PATH}?${query.toString()}`);
    dags.push(...page.dags);
    if (page.dags.length === 0 || dags.length >= page.total_entries) return dags;
  }
}

async function setPaused(
  context: CliContext,
  ids: readonly string[],
  isPaused: boolean,
  options: ClientCommandOptions,
): Promise<void> {
  const client = await connect(context, options);
  const changed: Dag[] = [];
  for (const id of ids) changed.push(await client.patch<Dag>(dagPath(id), { is_paused: isPaused }));
  if (options.json) printJson(context, changed);
  else context.stdout.write(`${isPaused ? 'Paused' : 'Unpaused'} ${ids.join(', ')}.\n`);
}

async function remove(
  context: CliContext,
  ids: readonly string[],
  options: ClientCommandOptions & { yes?: true },
): Promise<void> {
  const client = await connect(context, options);
  if (!options.yes) await confirm(context, ids, client.server);
  for (const id of ids) await client.delete(dagPath(id));
  if (options.json) printJson(context, { deleted: ids });
  else context.stdout.write(`Deleted ${count(ids.length, 'DAG')}.\n`);
}

async function confirm(context: CliContext, ids: readonly string[], server: string): Promise<void> {
  if (!canAsk(context)) throw usageError('deleting DAGs needs a yes, and there is nobody to ask', 'add --yes');
  const question = `Delete ${ids.join(', ')} with all versions from ${server}? [y/N] `;
  if (!/^y(es)?$/i.test((await ask(context, question)).trim())) throw new CliError('nothing was deleted');
}

const collect = (value: string, previous: readonly string[]): string[] => [...previous, value];
