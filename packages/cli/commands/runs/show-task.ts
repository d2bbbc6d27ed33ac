/** `svc runs show --task`: details of one task of a run. */
import type { DagRun, TaskDependency, TaskInstance, TaskInstanceTry } from '@svc/client/wire-types.ts';
import { failureText } from '@svc/spec/failure-causes.ts';
import { CliError, EXIT } from '../../cli-error.ts';
import type { Client } from '../../client/client.ts';
import { printJson } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import { printFields } from '../../output/fields.ts';
import { printTable } from '../../output/terminal.ts';
import { printable } from '../../output/text.ts';
import { timeText } from '../../output/wording.ts';
import { durationText, instanceName, secondsOf, stateText } from '../../runs/fields.ts';

type Closeup = { instance: TaskInstance; tries: TaskInstanceTry[]; dependencies: TaskDependency[] };

const INSTANCE = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/{map_index}';
/** Each instance costs two calls. */
const MOST_INSTANCES = 20;

export async function showTask(
  context: CliContext,
  input: { client: Client; run: DagRun; all: readonly TaskInstance[]; task: string; isJson: boolean },
): Promise<void> {
  const { client, run, all, task, isJson } = input;
  const found = chosenInstances(all, task);
  if (found.length === 0) throw noSuchTask(run, all, task);
  const shown = found.slice(0, MOST_INSTANCES);
  const closeups: Closeup[] = [];
  for (const instance of shown) {
    const { task_id: taskId, map_index: mapIndex } = instance;
    const path = { dag_id: run.dag_id, dag_run_id: run.dag_run_id, task_id: taskId, map_index: mapIndex };
    const { task_instances: tries } = await client.get(`${INSTANCE}/tries`, { path });
    const { dependencies } = await client.get(`${INSTANCE}/dependencies`, { path });
    closeups.push({ instance, tries: tries.filter(({ try_number: number }) => number > 0), dependencies });
  }
  if (isJson) {
    printJson(
      context,
      closeups.map(({ instance, tries, dependencies }) => ({ ...instance, tries, dependencies })),
    );
    return;
  }
  for (const [index, closeup] of closeups.entries()) {
    if (index > 0) context.stdout.write('\n');
    print(context, run, closeup);
  }
  if (found.length > shown.length) {
    context.stderr.write(`${shown.length} of ${found.length} instances are shown; name one as ${task}[0].\n`);
  }
}

/** `load` is the task with all its instances, `load[3]` is one of them. */
export function chosenInstances(all: readonly TaskInstance[], task: string): TaskInstance[] {
  const whole = all.filter((instance) => instance.task_id === task);
  return whole.length > 0 ? whole : all.filter((instance) => instanceName(instance) === task);
}

const NAMED_AT_MOST = 20;

export function noSuchTask(run: DagRun, all: readonly TaskInstance[], task: string): CliError {
  const names = [...new Set(all.map((instance) => instance.task_id))];
  const more = names.length > NAMED_AT_MOST ? ` and ${names.length - NAMED_AT_MOST} more` : '';
  return new CliError(`run ${run.dag_run_id} of DAG ${run.dag_id} has no task ${task}`, {
    exitCode: EXIT.notFound,
    hint: names.length === 0 ? 'it has no tasks' : `it has ${names.slice(0, NAMED_AT_MOST).join(', ')}${more}`,
  });
}

function print(context: CliContext, run: DagRun, { instance, tries, dependencies }: Closeup): void {
  const { stdout } = context;
  printFields(stdout, [
    ['Task', instanceName(instance)],
    ['Run', run.dag_run_id],
    ['State', stateText(instance.state)],
    ['Failed because', failureText(instance)],
    ['Waits because', dependencies.length === 0 ? instance.wait_reason : null],
  ]);
  for (const { name, reason } of dependencies) stdout.write(`  ${printable(`${name}: ${reason}`)}\n`);
  if (tries.length === 0) return;
  stdout.write('\n');
  const now = Date.now();
  printTable(stdout, {
    columns: [
      { title: 'TRY', value: (each) => String(each.try_number), align: 'right' },
      { title: 'STATE', value: (each) => stateText(each.state) },
      { title: 'STARTED', value: (each) => timeText(each.start_date) },
      { title: 'DURATION', value: (each) => durationText(secondsOf(each, now)), align: 'right' },
      { title: 'WHY', value: (each) => failureText(each) ?? '' },
    ],
    rows: tries,
  });
}
