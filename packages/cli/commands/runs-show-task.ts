/** `svc runs show --task`: one task of a run from close up. */
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printFields } from '../output/fields.ts';
import { printTable } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { durationText, instanceName, instancePath, reasonText, secondsOf, stateText } from '../runs/fields.ts';
import type { Instance, Run } from '../runs/fields.ts';
import { timeText } from './dag-fields.ts';

type Dependency = { name: string; reason: string };
type Closeup = { instance: Instance; tries: Instance[]; dependencies: Dependency[] };

/** Each costs two calls. */
const MOST_INSTANCES = 20;

export async function showTask(
  context: CliContext,
  input: { client: Client; run: Run; all: readonly Instance[]; task: string; isJson: boolean },
): Promise<void> {
  const { client, run, all, task, isJson } = input;
  const found = chosenInstances(all, task);
  if (found.length === 0) throw noSuchTask(run, all, task);
  const shown = found.slice(0, MOST_INSTANCES);
  const closeups: Closeup[] = [];
  for (const instance of shown) {
    const path = instancePath({ dagId: run.dag_id, runId: run.dag_run_id }, instance);
    const { task_instances: tries } = await client.get<{ task_instances: Instance[] }>(`${path}/tries`);
    const { dependencies } = await client.get<{ dependencies: Dependency[] }>(`${path}/dependencies`);
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

/** `load` is the task with all its instances, `load[3]` one of them. */
export function chosenInstances(all: readonly Instance[], task: string): Instance[] {
  const whole = all.filter((instance) => instance.task_id === task);
  return whole.length > 0 ? whole : all.filter((instance) => instanceName(instance) === task);
}

const NAMED_AT_MOST = 20;

export function noSuchTask(run: Run, all: readonly Instance[], task: string): CliError {
  const names = [...new Set(all.map((instance) => instance.task_id))];
  const more = names.length > NAMED_AT_MOST ? ` and ${names.length - NAMED_AT_MOST} more` : '';
  return new CliError(`run ${run.dag_run_id} of DAG ${run.dag_id} has no task ${task}`, {
    exitCode: EXIT.notFound,
    hint: names.length === 0 ? 'it has no tasks' : `it has ${names.slice(0, NAMED_AT_MOST).join(', ')}${more}`,
  });
}

function print(context: CliContext, run: Run, { instance, tries, dependencies }: Closeup): void {
  const { stdout } = context;
  printFields(stdout, [
    ['Task', instanceName(instance)],
    ['Run', run.dag_run_id],
    ['State', stateText(instance.state)],
    ['Failed because', instance.failure_reason],
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
      { title: 'WHY', value: reasonText },
    ],
    rows: tries,
  });
}
