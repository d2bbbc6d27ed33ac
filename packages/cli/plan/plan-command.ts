/** `svc plan`: what a deployment of these files would change, without changing anything. */
import { renderProblems } from '@svc/compiler/render-problems.ts';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { count, timeText } from '../output/wording.ts';
import { printable } from '../output/text.ts';
import { VALUES_OPTION } from '../projects/values.ts';
import type { ValuesOption } from '../projects/values.ts';
import type { SvcCommand } from '../svc-command.ts';
import { compareSpecs } from './compare-specs.ts';
import type { SpecDifference } from './compare-specs.ts';
import { nextDates } from './next-dates.ts';

type Options = ClientCommandOptions & ValuesOption & { bundle?: string; detailedExitCode?: true };

export type DagPlan = {
  dag_id: string;
  change: 'added' | 'changed' | 'removed';
  difference: SpecDifference | null;
  /** Logical dates of the next runs. Null: the schedule is the same. */
  next_dates: { before: string[]; after: string[] } | null;
  /** DAGs that its assets or its trigger tasks start, directly or through others. */
  downstream_dags: string[];
  /** Runs that have not ended. They keep their version. */
  running_runs: number;
};

const SHOWN_DATES = 10;
/** A plan looks at no more DAGs downstream than this. */
const MOST_DOWNSTREAM = 200;

export function addPlanCommand(program: SvcCommand, context: CliContext): void {
  withClientOptions(program.command('plan'))
    .description('Show what a deployment would change: tasks with the reason, dates, DAGs downstream, running runs')
    .argument('[path]', 'project, Airflow repository, directory of projects, folder of DAG files, or one DAG file', '.')
    .option('--bundle <name>', 'DAGs of this bundle that are not in the path count as removed')
    .option('--detailed-exit-code', 'exit code 10 when something would change')
    .option(...VALUES_OPTION)
    .note('Nothing is changed, and no image is built. It needs the permission to read DAGs.')
    .example('what a branch changes', 'svc plan --bundle etl')
    .example('for a program', 'svc plan --json')
    .action((path: string, options: Options) => plan(context, path, options));
}

const CHANGED = 10;

async function plan(context: CliContext, path: string, options: Options): Promise<void> {
  const client = await connect(context, options);
  const { compilePath } = await import('../projects/compile-path.ts');
  const units = await compilePath(context, path, {
    client,
    ...(options.values !== undefined && { values: options.values }),
  });
  const specs = units.flatMap((unit) => (unit.ok ? unit.artifacts.map(({ spec }) => spec) : []));
  const plans: DagPlan[] = [];
  for (const spec of specs) {
    const found = await planOf(client, spec);
    if (found) plans.push(found);
  }
  if (options.bundle !== undefined)
    plans.push(...(await removedFrom(client, options.bundle, new Set(specs.map(({ dag }) => dag.dag_id)))));
  const broken = units.filter((unit) => !unit.ok);
  const unchanged = specs.length - plans.filter(({ change }) => change !== 'removed').length;
  if (options.json) printJson(context, { dags: plans, unchanged, problems: broken.map(problemsOf) });
  else print(context, { plans, unchanged });
  if (broken.length > 0) {
    if (!options.json) for (const unit of broken) context.stderr.write(`${problemsOf(unit)}\n`);
    throw new CliError(`${count(broken.length, 'file')} would not be deployed`, { exitCode: EXIT.failed });
  }
  if (options.detailedExitCode && plans.length > 0) process.exitCode = CHANGED;
}

const problemsOf = (unit: CompiledUnit): string => (unit.ok ? '' : renderProblems(unit.problems));

async function specOf(client: Client, dagId: string): Promise<CompiledSpec | undefined> {
  try {
    const spec = await client.get('/api/v2/dags/{dag_id}/spec', { path: { dag_id: dagId } });
    return spec as unknown as CompiledSpec;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return undefined;
    throw error;
  }
}

async function planOf(client: Client, after: CompiledSpec): Promise<DagPlan | undefined> {
  const dagId = after.dag.dag_id;
  const before = await specOf(client, dagId);
  const difference = compareSpecs(before, after);
  if (!difference) return undefined;
  const now = new Date();
  const hasOtherDates =
    !before ||
    difference.reasons.includes('schedule') ||
    JSON.stringify(datesOf(before)) !== JSON.stringify(datesOf(after));
  return {
    dag_id: dagId,
    change: before ? 'changed' : 'added',
    difference,
    next_dates: hasOtherDates
      ? {
          before: before ? nextDates(before, { now, count: SHOWN_DATES }) : [],
          after: nextDates(after, { now, count: SHOWN_DATES }),
        }
      : null,
    downstream_dags: before ? await downstreamOf(client, dagId, triggeredBy(after)) : triggeredBy(after),
    running_runs: before ? await runningRuns(client, dagId) : 0,
  };
}

const datesOf = ({ schedule, dag }: CompiledSpec) => [schedule, dag.start_date, dag.end_date];

async function removedFrom(client: Client, bundle: string, present: ReadonlySet<string>): Promise<DagPlan[]> {
  const removed: DagPlan[] = [];
  for (let offset = 0; ;) {
    const page = await client.get('/api/v2/dags', { query: { bundle_name: bundle, limit: 1_000, offset } });
    for (const { dag_id: dagId } of page.dags) {
      if (present.has(dagId)) continue;
      removed.push({
        dag_id: dagId,
        change: 'removed',
        difference: null,
        next_dates: null,
        downstream_dags: await downstreamOf(client, dagId, []),
        running_runs: await runningRuns(client, dagId),
      });
    }
    offset += page.dags.length;
    if (page.dags.length === 0 || offset >= page.total_entries) return removed;
  }
}

async function runningRuns(client: Client, dagId: string): Promise<number> {
  const runs = await client.get('/api/v2/dags/{dag_id}/dagRuns', {
    path: { dag_id: dagId },
    query: { state: ['queued', 'running'], limit: 1 },
  });
  return runs.total_entries ?? 0;
}

/** DAGs that tasks of this one trigger by a constant id. */
function triggeredBy({ tasks }: CompiledSpec): string[] {
  const ids = tasks.map(({ arguments: given }) => (given as Record<string, unknown>)['trigger_dag_id']);
  return [...new Set(ids.filter((id): id is string => typeof id === 'string'))].sort();
}

/** DAGs that are scheduled by assets which this DAG, or one downstream of it, writes. */
async function downstreamOf(client: Client, dagId: string, triggered: readonly string[]): Promise<string[]> {
  const found = new Set<string>(triggered);
  const waiting = [dagId, ...triggered];
  for (let next = waiting.shift(); next !== undefined && found.size < MOST_DOWNSTREAM; next = waiting.shift()) {
    const writer = next;
    const { assets } = await client.get('/api/v2/assets', { query: { dag_ids: [writer], limit: 1_000 } });
    const written = assets.filter((asset) => asset.producing_tasks.some((task) => task.dag_id === writer));
    for (const { dag_id: id } of written.flatMap((asset) => asset.scheduled_dags)) {
      if (found.has(id) || id === dagId) continue;
      found.add(id);
      waiting.push(id);
    }
  }
  return [...found].sort();
}

const SIGNS = { added: '+', changed: '~', removed: '-' } as const;

function print({ stdout }: CliContext, { plans, unchanged }: { plans: readonly DagPlan[]; unchanged: number }): void {
  for (const one of plans) stdout.write(`${linesOf(one).map(printable).join('\n')}\n\n`);
  const of = (change: DagPlan['change']): number => plans.filter((one) => one.change === change).length;
  stdout.write(
    `${count(of('added'), 'DAG')} added, ${of('changed')} changed, ${of('removed')} removed, ${unchanged} unchanged.\n`,
  );
}

function linesOf(one: DagPlan): string[] {
  const { difference } = one;
  const why = difference && difference.reasons.length > 0 ? `  (${difference.reasons.join(', ')})` : '';
  const lines = [`${SIGNS[one.change]} DAG ${one.dag_id}${why}`];
  for (const { task_id: id, change, reasons } of difference?.tasks ?? [])
    lines.push(`    ${SIGNS[change]} ${id}${reasons.length > 0 ? `  ${reasons.join(', ')}` : ''}`);
  const named = (what: string, names: readonly string[]): void => {
    if (names.length > 0) lines.push(`    ${what}: ${names.join(', ')}`);
  };
  named('files', difference?.files ?? []);
  named('new connections', difference?.connections.added ?? []);
  named('new variables', difference?.variables.added ?? []);
  if (one.next_dates) {
    lines.push(`    dates before: ${datesText(one.next_dates.before)}`);
    lines.push(`    dates after:  ${datesText(one.next_dates.after)}`);
  }
  named('downstream', one.downstream_dags);
  if (one.running_runs > 0) lines.push(`    ${count(one.running_runs, 'run')} not ended: they keep their version`);
  return lines;
}

const datesText = (dates: readonly string[]): string =>
  dates.length === 0 ? 'none by time' : dates.map((date) => timeText(date)).join(', ');
