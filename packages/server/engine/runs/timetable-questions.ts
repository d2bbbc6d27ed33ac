/**
 * Workers answer questions about authors' timetables, because only they run author code. This file asks the questions
 * and uses the answers.
 *
 *   a DAG's table runs low, or lacks the next run ──▶ dags.timetable_ask_at ──▶ a question (callback_requests)
 *     ──▶ a worker answers ──▶ the table in dags.timetable, and with it the next run
 *   a manual run without a data interval, a backfill ──▶ a question of its own, for whose answer the caller waits
 *
 * A lost question is asked again. A timetable that raises is asked again later, and its DAG has a warning until then.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { nowIso, secondsAfter } from '@svc/spec/clock.ts';
import { customIn, lookUpCustomRun, runsOf, wantsAnswers, withTable } from '@svc/spec/timetables/custom-runs.ts';
import { instantFromIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { CustomTable } from '@svc/spec/timetables/schema.ts';
import type { CustomRun } from '@svc/spec/timetables/schema.ts';
import type { DataInterval, RunInfo, RunQuery } from '@svc/spec/timetables/types.ts';
import { Type } from 'typebox';
import { compileWhenUsed } from '../../compile-when-used.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import { lastAutomatedInterval, updateNextRun } from '../sql/due-dags.ts';
import type { AutomatedRun } from '../sql/due-dags.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import {
  dropOpenQuestions,
  insertQuestion,
  lockAskedDag,
  nextQuestionAt,
  noteTimetableProblem,
  readQuestion,
  setTimetable,
  takeDagsToAsk,
  writeAnswer,
} from '../sql/timetable-questions.ts';
import type { AskedDag, ManualAnswer, TimetableQuestion } from '../sql/timetable-questions.ts';
import { nextRunColumns, runAfterInterval } from './dag-schedule.ts';
import { isKeysAnswer, keysToAsk, useKeys } from './partition-key-questions.ts';

/** A question without an answer is asked again after this time. */
const LOST_SECONDS = 60;
/** When to ask again a timetable that raised, or that wanted no more runs: it may want some later. */
const LATER_SECONDS = 300;
const DAGS_AT_ONCE = 50;

/** Asks the questions that are due. Returns when to call again, and how many questions wait for workers. */
export async function putQuestions(db: Database): Promise<{ put: number; nextAt: string | null }> {
  const now = nowIso();
  const keys = await takeDagsToAsk(db.shared, { now, again: secondsAfter(now, LOST_SECONDS), limit: DAGS_AT_ONCE });
  let put = 0;
  for (const key of keys) if (await db.shared.transaction().execute((trx) => putQuestion(trx, key, now))) put += 1;
  return { put, nextAt: await nextQuestionAt(db.shared, now) };
}

async function putQuestion(trx: SharedDb, key: DagKey, now: string): Promise<boolean> {
  const dag = await lockAskedDag(trx, key);
  const question = dag && (await questionAbout(trx, key, dag, now));
  if (!dag || !question) {
    await setTimetable(trx, key, { askAt: null });
    return false;
  }
  await dropOpenQuestions(trx, key);
  await insertQuestion(trx, key, { versionNumber: dag.current_version, question });
  return true;
}

async function questionAbout(
  trx: SharedDb,
  key: DagKey,
  dag: AskedDag,
  now: string,
): Promise<TimetableQuestion | undefined> {
  if (dag.timetable.type === 'partitioned_asset') return keysToAsk(trx, key, dag.timetable);
  const custom = customIn(dag.timetable);
  if (!custom) return undefined;
  const stored = await lastAutomatedInterval(scopedToTenant(trx, key.tenantId), key.dagId, dag.timetable);
  const last = intervalOf(stored);
  const isKnown = lookUpCustomRun(custom, queryOf(dag, last, instantOf(now))).kind === 'run';
  // Known runs stay, and the question continues after the newest.
  const newest = isKnown ? (custom.table?.runs.at(-1) ?? null) : null;
  const behind = newest ? placeOf(newest) : stored;
  return { kind: 'runs', last: behind, earliest: dag.start_date, latest: dag.end_date, catchup: dag.catchup };
}

const Table = compileWhenUsed(CustomTable);
const Manual = compileWhenUsed(
  Type.Object({ start: Type.String(), end: Type.String(), run_id: Type.Optional(Type.String()) }),
);

/** Records the answer of a worker. Returns the moment of the next run if it has changed, else null. */
export async function recordAnswer(
  db: Database,
  input: { tenantId: string; dagId: string; id: string; answer: unknown; problem: string | null },
): Promise<{ dueAt: string | null }> {
  const { tenantId, dagId } = input;
  const isTable = Table.Check(input.answer) && input.answer.runs.every(hasDates);
  const isAnswer =
    isTable ||
    isKeysAnswer(input.answer) ||
    (Manual.Check(input.answer) && hasDates({ ...input.answer, run_after: input.answer.end }));
  const problem = input.problem ?? (isAnswer ? null : 'the answer of the timetable cannot be read');
  return db.shared.transaction().execute(async (trx) => {
    const key = { tenantId, dagId };
    const dag = await lockAskedDag(trx, key);
    const answered = await writeAnswer(trx, {
      tenantId,
      id: input.id,
      answer: isAnswer ? input.answer : null,
      problem,
    });
    const kind = answered?.question.kind;
    if (!dag || (kind !== 'runs' && kind !== 'keys') || answered?.versionNumber !== dag.current_version) {
      return { dueAt: null };
    }
    await noteTimetableProblem(trx, key, problem);
    const { question } = answered;
    if (question.kind === 'keys' && dag.timetable.type === 'partitioned_asset' && isKeysAnswer(input.answer))
      return useKeys(trx, key, { timetable: dag.timetable, question, answer: input.answer });
    if (problem !== null || !isTable) {
      await setTimetable(trx, key, { askAt: secondsAfter(nowIso(), LATER_SECONDS) });
      return { dueAt: null };
    }
    return useTable(trx, key, dag, input.answer as CustomTable);
  });
}

const hasDates = (run: { start: string; end: string; run_after: string; partition_date?: string }): boolean =>
  [run.start, run.end, run.run_after, run.partition_date ?? run.start].every((text) => instantFromIso(text) !== null);

/** The run before, as the timetable receives it: its dates, or its partition. */
const placeOf = ({ start, end, partition_key: key, partition_date: date }: CustomRun): AutomatedRun => ({
  start,
  end,
  ...(date !== undefined && key !== undefined && { partition_key: key, partition_date: date }),
});

async function useTable(
  trx: SharedDb,
  key: DagKey,
  dag: AskedDag,
  answer: CustomTable,
): Promise<{ dueAt: string | null }> {
  const now = nowIso();
  const last = await lastInterval(trx, key, dag);
  const timetable = withTable(dag.timetable, joined(customIn(dag.timetable)?.table, answer, last));
  const schedule = { ...dag, timetable };
  const next = runAfterInterval(schedule, last, instantOf(now));
  const columns = nextRunColumns(next);
  await updateNextRun(trx, key, columns);
  const wantsMore = wantsAnswers(timetable, queryOf(schedule, last, instantOf(now)));
  const askAt = wantsMore && answer.runs.length > 0 ? now : null;
  const later = answer.complete || answer.runs.length === 0 ? secondsAfter(now, LATER_SECONDS) : null;
  await setTimetable(trx, key, { timetable, askAt: askAt ?? later });
  return { dueAt: columns.next_dagrun_run_after ?? askAt };
}

/** Joins the old table and the runs after it, without runs that have been created. */
function joined(old: CustomTable | undefined, answer: CustomTable, last: DataInterval | null): CustomTable {
  const { after } = answer;
  const end = old?.runs.at(-1);
  if (!old || !after || end?.start !== after.start || end.end !== after.end) return answer;
  const used = last === null ? -1 : old.runs.findIndex((run) => instantFromIso(run.start) === last.start);
  const anchor = used < 0 ? undefined : old.runs[used];
  return {
    ...answer,
    after: anchor ? { start: anchor.start, end: anchor.end } : old.after,
    // The older moment, because the table says about missed runs what was true then.
    asked_at: old.asked_at,
    runs: [...old.runs.slice(used + 1), ...answer.runs],
  };
}

const WAIT_MS = 30_000;
const LOOK_MS = 40;

export type AskFailed = { kind: 'failed'; problem: string };

/** Asks a separate question and waits for the answer. `wake` notifies processes that have workers. */
async function ask(
  db: Database,
  key: DagKey,
  input: { versionNumber: number; question: TimetableQuestion; wake: () => void },
): Promise<{ kind: 'answered'; answer: unknown } | AskFailed> {
  const id = await insertQuestion(db.shared, key, input);
  input.wake();
  const deadline = Date.now() + WAIT_MS;
  for (let pause = LOOK_MS; Date.now() < deadline; pause = Math.min(pause * 1.5, 500)) {
    await sleep(pause);
    const found = await readQuestion(db.shared, key.tenantId, id);
    if (found && found.answer !== null) return { kind: 'answered', answer: found.answer };
    if (!found || found.problem !== null || found.state === 'done' || found.state === 'failed') {
      return { kind: 'failed', problem: found?.problem ?? 'the worker that was asked did not answer' };
    }
  }
  return { kind: 'failed', problem: `no worker answered within ${WAIT_MS / 1_000} s` };
}

/** Asks the author's timetable what a manual run at that moment covers. */
export async function askManual(
  db: Database,
  key: DagKey,
  input: { versionNumber: number; at: string; wake: () => void },
): Promise<{ kind: 'answered'; answer: ManualAnswer } | AskFailed> {
  const question = { kind: 'manual', run_after: input.at } as const;
  const asked = await ask(db, key, { ...input, question });
  if (asked.kind === 'failed') return asked;
  return Manual.Check(asked.answer)
    ? { kind: 'answered', answer: asked.answer }
    : { kind: 'failed', problem: 'the answer of the timetable cannot be read' };
}

/** Asks for the runs with catchup between two moments that are due by now, oldest first. */
export async function askRange(
  db: Database,
  key: DagKey,
  input: { versionNumber: number; from: string; to: string; count: number; wake: () => void },
): Promise<{ kind: 'answered'; runs: RunInfo[] } | AskFailed> {
  const question: TimetableQuestion = {
    kind: 'range',
    earliest: input.from,
    latest: input.to,
    until: nowIso(),
    catchup: true,
    last: null,
    count: input.count,
  };
  const asked = await ask(db, key, { ...input, question });
  if (asked.kind === 'failed') return asked;
  return Table.Check(asked.answer)
    ? { kind: 'answered', runs: runsOf(asked.answer.runs) }
    : { kind: 'failed', problem: 'the answer of the timetable cannot be read' };
}

const lastInterval = async (trx: SharedDb, key: DagKey, { timetable }: AskedDag): Promise<DataInterval | null> =>
  intervalOf(await lastAutomatedInterval(scopedToTenant(trx, key.tenantId), key.dagId, timetable));

const intervalOf = (last: AutomatedRun | null): DataInterval | null =>
  last && { start: instantOf(last.start), end: instantOf(last.end) };

const queryOf = (dag: AskedDag, lastInterval: DataInterval | null, now: Instant): RunQuery => ({
  lastInterval,
  earliest: dag.start_date === null ? null : instantOf(dag.start_date),
  latest: dag.end_date === null ? null : instantOf(dag.end_date),
  catchup: dag.catchup,
  now,
});

function instantOf(text: string): Instant {
  const at = instantFromIso(text);
  if (at === null) throw new Error(`"${text}" is not a moment`);
  return at;
}
