/** `svc replay --plan`: the planner decides a run again, without its tasks and in virtual time. */
import type { DagRun } from '@svc/client/wire-types.ts';
import { planAgain } from '@svc/server/engine/single-run/recorded-run.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { differencesOf, eventText, printDecisions } from './print-decisions.ts';
import { printWaits } from './print-waits.ts';
import { readWaits } from './read-waits.ts';
import { readRun } from './recorded-run.ts';

export async function replayPlan(
  context: CliContext,
  client: Client,
  { run, taskId, json }: { run: DagRun; taskId: string | undefined; json: boolean },
): Promise<void> {
  const recorded = await readRun(client, run);
  const { recording, instances } = recorded;
  const dagId = run.dag_id;
  const taskIds = recording.spec.tasks.map(({ task_id: id }) => id);
  if (taskId !== undefined && !taskIds.includes(taskId)) {
    throw new CliError(`${dagId} has no task ${taskId}`, {
      exitCode: EXIT.notFound,
      hint: `its tasks are: ${taskIds.join(', ')}`,
    });
  }
  const planned = planAgain(recording);
  const differences = differencesOf(recorded, planned);
  const waits = await readWaits(client, recorded, planned);
  if (json) {
    const decisions = planned.decisions.map((decision) => ({
      at: decision.at,
      event: eventText(decision),
      task_id: decision.event?.taskId ?? null,
      map_index: decision.event?.mapIndex ?? null,
      try_number: decision.event?.tryNumber ?? null,
      decided: decision.decided.map(({ taskId: id, mapIndex, state, why }) => ({
        task_id: id,
        map_index: mapIndex,
        state,
        why,
      })),
      run_state: decision.ended?.state ?? null,
    }));
    printJson(context, {
      dag_id: dagId,
      run_id: run.dag_run_id,
      state: planned.runState,
      decisions,
      differences,
      waits,
    });
    return;
  }
  const only = taskId;
  printDecisions(context, { decisions: planned.decisions, startedAt: recording.startedAt, only });
  printWaits(context, waits, { startedAt: recording.startedAt, only });
  for (const { task_id: id, map_index: index, recorded: was, planned: is } of differences) {
    const name = index < 0 ? id : `${id}[${index}]`;
    warn(context, `${name} is ${was ?? 'without a state'} in the run, and the replay gives it ${is ?? 'no state'}`);
  }
  const same = instances.length - differences.length;
  context.stdout.write(`The replay ends as the run for ${same} of ${instances.length} task instances.\n`);
  if (differences.length > 0) {
    warn(
      context,
      'a person, a fault or another run has decided these: the audit log and the logs of the tries say more',
    );
  }
}
