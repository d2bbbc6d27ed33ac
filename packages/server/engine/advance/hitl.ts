/**
 * A task that asks people (human in the loop) waits without a process:
 *
 *   running ─ asks ─▶ awaiting_input ─ an answer, or the time is up ─▶ scheduled ─▶ running, the same try, with the
 *                                                                                 answer
 *
 * With the web UI of Airflow 3.2, which does not know `awaiting_input`, the task waits as `deferred`.
 *
 * The question is stored while the attempt still runs, so an answer may come before the attempt ends. The task then
 * continues at once. Both sides hold the lock of the run's row, so neither can miss the other.
 */
import { PARKED_STATES, isParked } from '@svc/spec/states.ts';
import type { SharedDb } from '../../db/database.ts';
import type { InstanceRow } from '../../db/schema.ts';
import { answerHitlRequest } from '../../db/task-instances/hitl.ts';
import type { Answer, HitlRequest, HitlKey } from '../../db/task-instances/hitl.ts';
import { findHitlRequestsOf } from '../sql/hitl.ts';
import { lockRuns } from '../sql/run-writes.ts';
import { load, openWork, writeAll } from './apply-to-runs.ts';
import { noEffects } from './run-effects.ts';
import type { RunEffects } from './run-effects.ts';
import type { DagGraphs } from '../shared/dag-graphs.ts';
import type { RunWork } from './run-work.ts';

/** The state in which a task waits for an answer. */
export type HitlState = (typeof PARKED_STATES)[number];

type Rescheduled = { work: RunWork; row: InstanceRow };

/** Among rescheduled instances, those that have asked a question wait for the answer and not for a time. */
export async function waitForAnswers(
  trx: SharedDb,
  rescheduled: readonly Rescheduled[],
  state: HitlState = 'awaiting_input',
): Promise<void> {
  if (rescheduled.length === 0) return;
  const asked = await findHitlRequestsOf(
    trx,
    rescheduled.map(({ row }) => row),
  );
  for (const question of asked) {
    const { run, task_id: taskId, map_index: mapIndex } = question;
    const work = rescheduled.find((one) => one.work.run.id === run)?.work;
    const row = work?.row({ taskId, mapIndex });
    if (!work || !row) continue;
    const isAnswered = question.responded_at !== null;
    work.change(row, {
      end_date: null,
      ...(isAnswered ? { due_at: work.now } : { state, due_at: question.expires_at }),
    });
  }
}

export type AnswerResult =
  | { kind: 'answered'; question: HitlRequest; effects: RunEffects }
  /** Another person answered before. */
  | { kind: 'too_late' }
  /** The task no longer waits: it was ended, cleared or marked. */
  | { kind: 'not_waiting' };

const MAY_BE_ANSWERED = new Set<InstanceRow['state']>([...PARKED_STATES, 'running', 'up_for_reschedule']);

export async function answerAndGoOn(
  trx: SharedDb,
  graphs: DagGraphs,
  { key, answer }: { key: HitlKey; answer: Answer },
): Promise<AnswerResult> {
  const works = await openWork(trx, graphs, await lockRuns(trx, [{ tenantId: key.tenantId, run: key.run }]));
  const [work] = works;
  if (!work) return { kind: 'not_waiting' };
  await load(trx, [{ work, picks: [{ taskId: key.taskId, mapIndex: key.mapIndex }] }]);
  const row = work.row(key);
  const isWaiting = row?.try_number === key.tryNumber && work.run.state === 'running' && MAY_BE_ANSWERED.has(row.state);
  if (!row || !isWaiting) return { kind: 'not_waiting' };
  const question = await answerHitlRequest(trx, key, answer);
  if (!question) return { kind: 'too_late' };
  if (!isParked(row.state)) return { kind: 'answered', question, effects: noEffects() };
  work.change(row, { state: 'scheduled', due_at: null, scheduled_at: work.now, claimable: false });
  return { kind: 'answered', question, effects: await writeAll(trx, works) };
}
