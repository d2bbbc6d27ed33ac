/** What must be true of every attempt in a pod, whatever befell it. Pure: from the evidence to complaints. */
import { FAILURE_CAUSES, causeOf } from '@svc/spec/failure-causes.ts';
import type { FailureCause } from '@svc/spec/failure-causes.ts';
import { RUN_TRANSITIONS, TASK_TRANSITIONS } from '@svc/spec/states/transitions.ts';
import type { RunState, TaskState } from '@svc/spec/states.ts';
import type { InstanceEvidence, Transition } from '../chaos/runs-evidence.ts';
import type { LedgerLine } from './ledger.ts';

export type Evidence = {
  runs: readonly { dag_id: string; run_id: string; state: string }[];
  instances: readonly InstanceEvidence[];
  /** Earlier tries and why they failed. */
  tries: readonly { failure_reason: string | null; failure_detail?: string | null }[];
  transitions: readonly Transition[];
  lines: readonly LedgerLine[];
};

/** What may be said of an attempt that somebody killed, from outside or by taking something away that it needs. */
const PLAUSIBLE: ReadonlySet<string> = new Set<FailureCause>([
  'agent_lost',
  'process_killed',
  'process_exited',
  'pod_deleted',
  'pod_evicted',
  'pod_not_started',
  'container_not_started',
  'image_unavailable',
  'node_lost',
]);
/** Before the author's code: given up only after all dispatches. */
const STARTS: ReadonlySet<string> = new Set<FailureCause>(['pod_not_started', 'container_not_started', 'image_unavailable', 'pod_refused', 'pod_deleted', 'pod_evicted', 'agent_lost']); // prettier-ignore

/** `workers`: how the names of pods begin that run one attempt after another; without, each has a pod of its own. */
export function checkPods(
  evidence: Evidence,
  accepted: readonly { dagId: string; runId: string }[],
  workers?: string,
): string[] {
  return [
    ...checkRuns(evidence, accepted),
    ...checkOnce(evidence, workers),
    ...checkSuccesses(evidence),
    ...checkTries(evidence),
    ...checkReasons(evidence),
  ];
}

function checkRuns({ runs, instances, transitions }: Evidence, accepted: readonly { dagId: string; runId: string }[]) {
  const found = new Set(runs.map((run) => `${run.dag_id}/${run.run_id}`));
  return [
    ...accepted.filter(({ dagId, runId }) => !found.has(`${dagId}/${runId}`)).map(({ runId }) => `${runId} was lost`),
    ...runs.filter(({ state }) => state !== 'success').map((run) => `${run.run_id} is ${run.state}`),
    ...instances.filter(({ state }) => state !== 'success').map((row) => `${nameOf(row)} is ${row.state}`),
    ...transitions.flatMap(({ run, task_id: task, was, became }) => {
      const isLegal =
        task === null
          ? RUN_TRANSITIONS[was as RunState].includes(became as RunState)
          : TASK_TRANSITIONS[(was ?? 'none') as TaskState].includes(became as TaskState);
      return isLegal ? [] : [`run ${run} ${task ?? ''}: ${was} became ${became}`];
    }),
  ];
}

const nameOf = (row: InstanceEvidence): string => `${row.dag_id}/${row.run_id}/${row.task_id}`;

/** No body twice for one attempt nor for one try, none for an attempt that never started or was taken back. */
function checkOnce({ lines, transitions }: Evidence, workers: string | undefined): string[] {
  const started = new Set(transitions.filter(({ became }) => became === 'running').map((row) => row.attempt_id));
  const takenBack = attemptsTakenBack(transitions);
  const attempts = new Set<string>();
  const tries = new Set<string>();
  return lines
    .filter(({ what }) => what === 'start')
    .flatMap((line) => {
      const key = `${line.dag}/${line.run}/${line.task} try ${line.try}`;
      const complaints = [
        attempts.has(line.attempt) ? [`${key}: attempt ${line.attempt} has run twice`] : [],
        tries.has(key) ? [`${key} has run twice`] : [],
        started.has(line.attempt) ? [] : [`${key}: attempt ${line.attempt} ran without having started`],
        takenBack.has(line.attempt) ? [`${key}: attempt ${line.attempt} ran although it was taken back`] : [],
        line.host.startsWith(workers ?? `svc-${line.attempt}`)
          ? []
          : [`${key}: attempt ${line.attempt} ran in ${line.host}`],
      ].flat();
      attempts.add(line.attempt);
      tries.add(key);
      return complaints;
    });
}

function attemptsTakenBack(transitions: readonly Transition[]): ReadonlySet<string | null> {
  const running = new Map<string, string | null>();
  const takenBack = new Set<string | null>();
  for (const { run, task_id: task, map_index: map, was, became, attempt_id: attempt } of transitions) {
    const instance = `${run}/${task}/${map}`;
    if (became === 'running') running.set(instance, attempt);
    if (was === 'running' && became === 'scheduled') takenBack.add(running.get(instance) ?? null);
  }
  return takenBack;
}

/** What is said to have succeeded has run from its beginning to its end, as the attempt it says. */
function checkSuccesses({ instances, lines }: Evidence): string[] {
  const told = new Set(lines.map(({ what, attempt }) => `${what} ${attempt}`));
  return instances.flatMap((row) =>
    row.state === 'success' && !(told.has(`start ${row.attempt_id}`) && told.has(`end ${row.attempt_id}`))
      ? [`${nameOf(row)} has succeeded as attempt ${row.attempt_id}, which has not run`]
      : [],
  );
}

/** A try is used up by what had begun, or by the executor that gave up starting it. */
function checkTries({ transitions, tries, instances }: Evidence): string[] {
  const failures = transitions.filter(({ became }) => became === 'up_for_retry');
  const unbegun = failures.filter(({ was }) => was !== 'running').length;
  const givenUp = tries.filter(({ failure_reason: reason }) => STARTS.has(causeOf(reason ?? ''))).length;
  const used = instances.reduce((sum, row) => sum + row.try_number, 0);
  return [
    unbegun > givenUp ? [`${unbegun} tries were used up before anything had begun, ${givenUp} were given up`] : [],
    used === instances.length + failures.length
      ? []
      : [`${used} tries of ${instances.length} instances, of which ${failures.length} failed`],
  ].flat();
}

function checkReasons({ tries }: Evidence): string[] {
  return tries.flatMap(({ failure_reason: reason, failure_detail: detail }) => {
    const cause = causeOf(reason ?? '');
    if (PLAUSIBLE.has(cause)) return [];
    const text = FAILURE_CAUSES[cause as FailureCause]?.text ?? '';
    return [`somebody says ${cause || 'nothing'}: ${text}${detail ? ` (${detail})` : ''}`];
  });
}
