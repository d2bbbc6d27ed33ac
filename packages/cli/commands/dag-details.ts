/** `svc dags show|versions|source|tasks`: details of one DAG. */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { InvalidArgumentError } from 'commander';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printFields } from '../output/fields.ts';
import { printTable } from '../output/terminal.ts';
import { timeText } from '../output/wording.ts';
import type { SvcCommand } from '../svc-command.ts';
import { stateOf } from './dag-fields.ts';

type VersionOptions = ClientCommandOptions & { dagVersion?: number };

export function addDagDetailsCommands(dags: SvcCommand, context: CliContext): void {
  const about = (name: string): SvcCommand =>
    withClientOptions(dags.command(name)).argument('<dag-id>', 'id of the DAG');
  const withVersion = (name: string): SvcCommand =>
    about(name).option('--dag-version <number>', 'version to look at (default: the newest)', parseNumber);

  withVersion('show')
    .description('Show a DAG: its settings and its task graph')
    .action((id: string, options: VersionOptions) => show(context, id, options));
  about('versions')
    .description('List the versions of a DAG, newest first')
    .action((id: string, options: ClientCommandOptions) => versions(context, id, options));
  withVersion('source')
    .description('Print the DAG file a version was made from')
    .action((id: string, options: VersionOptions) => source(context, id, options));
  about('tasks')
    .description('List the tasks of a DAG')
    .action((id: string, options: ClientCommandOptions) => tasks(context, id, options));
}

function parseNumber(text: string): number {
  const number = Number(text.replace(/^v/, ''));
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('A version is a number such as 3.');
  return number;
}

const aboutDag = (id: string) => ({ path: { dag_id: id } });
const aboutVersion = (id: string, { dagVersion }: VersionOptions) => ({
  ...aboutDag(id),
  query: { version_number: dagVersion },
});

async function show(context: CliContext, id: string, options: VersionOptions): Promise<void> {
  const client = await connect(context, options);
  const details = await client.get('/api/v2/dags/{dag_id}/details', aboutDag(id));
  const spec = (await client.get('/api/v2/dags/{dag_id}/spec', aboutVersion(id, options))) as CompiledSpec;
  if (options.json) {
    printJson(context, { ...details, spec });
    return;
  }
  const { renderTaskOutline } = await import('../projects/task-outline.ts');
  const schedule = [details.timetable_summary ?? 'none', details.timetable_description].filter(Boolean).join(': ');
  const newest = details.latest_dag_version?.version_number ?? null;
  printFields(context.stdout, [
    ['DAG', details.dag_id],
    ['Name', details.dag_display_name === details.dag_id ? null : details.dag_display_name],
    ['Description', details.description],
    ['State', stateOf(details)],
    ['Version', options.dagVersion === undefined ? newest : `${options.dagVersion} (newest is ${newest})`],
    ['Schedule', schedule],
    ['Next run', details.next_dagrun_run_after && timeText(details.next_dagrun_run_after)],
    ['Owners', details.owners.join(', ') || null],
    ['Tags', details.tags.map((tag) => tag.name).join(', ') || null],
    ['At once', `${details.max_active_runs} runs, ${details.max_active_tasks} tasks`],
    ['File', details.fileloc],
    ['Commit', details.bundle_version],
  ]);
  context.stdout.write(`\n${renderTaskOutline(spec)}`);
}

async function versions(context: CliContext, id: string, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const rows = await client.list('/api/v2/dags/{dag_id}/dagVersions', 'dag_versions', aboutDag(id));
  if (options.json) {
    printJson(context, rows);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'VERSION', value: (row) => `v${row.version_number}` },
      { title: 'REGISTERED', value: (row) => timeText(row.created_at) },
      { title: 'FROM', value: (row) => row.bundle_name ?? '' },
      { title: 'COMMIT', value: (row) => shortCommit(row.bundle_version) },
      { title: 'REPOSITORY', value: (row) => row.bundle_url ?? '' },
    ],
    rows,
  });
}

/** Shortens a commit as git does. A suffix for uncommitted changes stays. */
const shortCommit = (version: string | null): string =>
  (version ?? '').replace(/^([0-9a-f]{12})[0-9a-f]{28}(?=$|-)/, '$1');

async function source(context: CliContext, id: string, options: VersionOptions): Promise<void> {
  const client = await connect(context, options);
  const answer = await client.get('/api/v2/dagSources/{dag_id}', aboutVersion(id, options));
  if (options.json) printJson(context, answer);
  // A file gets the source unchanged. On a terminal, control characters are removed.
  else context.stdout.write(context.stdout.isTTY ? withoutControls(answer.content) : answer.content);
}

const withoutControls = (text: string): string =>
  text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\uFFFD');

async function tasks(context: CliContext, id: string, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const { tasks: rows } = await client.get('/api/v2/dags/{dag_id}/tasks', aboutDag(id));
  if (options.json) {
    printJson(context, rows);
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'TASK', value: (task) => task.task_id },
      { title: 'OPERATOR', value: (task) => `${task.operator_name ?? ''}${task.is_mapped ? ' (mapped)' : ''}` },
      { title: 'TRIGGER RULE', value: (task) => task.trigger_rule },
      { title: 'RETRIES', value: (task) => String(task.retries), align: 'right' },
      { title: 'POOL', value: (task) => task.pool ?? '' },
      { title: 'THEN', value: (task) => task.downstream_task_ids.join(', ') },
    ],
    rows,
  });
}
