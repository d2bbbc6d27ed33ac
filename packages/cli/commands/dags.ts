import type { Dag } from '@svc/client/wire-types.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import { count, timeText } from '../output/wording.ts';
import { ask, canAsk } from '../prompt.ts';
import type { SvcCommand } from '../svc-command.ts';
import { addDagDetailsCommands } from './dag-details.ts';
import { stateOf } from './dag-fields.ts';

type ListOptions = ClientCommandOptions & {
  tag: string[];
  paused?: true;
  unpaused?: true;
  pattern?: string;
  all?: true;
};

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

const listDags = (client: Client, options: ListOptions): Promise<Dag[]> =>
  client.list('/api/v2/dags', 'dags', {
    query: {
      tags: options.tag,
      paused: options.paused || options.unpaused ? options.paused === true : undefined,
      dag_id_pattern: options.pattern,
      exclude_stale: options.all ? false : undefined,
    },
  });

async function setPaused(
  context: CliContext,
  ids: readonly string[],
  isPaused: boolean,
  options: ClientCommandOptions,
): Promise<void> {
  const client = await connect(context, options);
  const changed: Dag[] = [];
  for (const id of ids) {
    changed.push(await client.patch('/api/v2/dags/{dag_id}', { path: { dag_id: id }, body: { is_paused: isPaused } }));
  }
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
  for (const id of ids) await client.delete('/api/v2/dags/{dag_id}', { path: { dag_id: id } });
  if (options.json) printJson(context, { deleted: ids });
  else context.stdout.write(`Deleted ${count(ids.length, 'DAG')}.\n`);
}

async function confirm(context: CliContext, ids: readonly string[], server: string): Promise<void> {
  if (!canAsk(context)) throw usageError('deleting DAGs needs a yes, and there is nobody to ask', 'add --yes');
  const question = `Delete ${ids.join(', ')} with all versions from ${server}? [y/N] `;
  if (!/^y(es)?$/i.test((await ask(context, question)).trim())) throw new CliError('nothing was deleted');
}

const collect = (value: string, previous: readonly string[]): string[] => [...previous, value];
