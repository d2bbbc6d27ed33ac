/** Questions about authors' timetables, in `callback_requests`. Workers answer them in the way they call callbacks. */
import { sql } from 'kysely';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { SharedDb } from '../../db/database.ts';
import type { Moment } from '../../db/schema.ts';
import { ofActiveTenant } from './active-tenants.ts';
import type { DagKey } from './dag-rows.ts';
import type { AutomatedRun } from './due-dags.ts';

/** `callback_requests.which` of a question. */
export const TIMETABLE = 'timetable';

type Interval = { start: string; end: string };

export type TimetableQuestion =
  | { kind: 'runs'; last: AutomatedRun | null; earliest: string | null; latest: string | null; catchup: boolean }
  | { kind: 'range'; earliest: string; latest: string; until: string; catchup: true; last: null; count: number }
  | { kind: 'manual'; run_after: string }
  | KeysQuestion;

/** Asks what the mappers at these places (-1: the default) make of these keys. */
export type KeysQuestion = { kind: 'keys'; keys: { mapper: number; key: string }[] };

export type ManualAnswer = Interval & { run_id?: string };

export async function insertQuestion(
  db: SharedDb,
  key: DagKey,
  input: { versionNumber: number; question: TimetableQuestion },
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into callback_requests (tenant_id, run, dag_id, which, reason, version_number, question)
    values (${key.tenantId}, null, ${key.dagId}, ${TIMETABLE}, '', ${input.versionNumber}, ${JSON.stringify(input.question)})
    returning id`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('unreachable: the question was just written');
  return row.id;
}

export type QuestionState = { state: string; answer: unknown; problem: string | null };

export async function readQuestion(db: SharedDb, tenantId: string, id: string): Promise<QuestionState | undefined> {
  const { rows } = await sql<QuestionState>`
    select state, answer, problem from callback_requests where tenant_id = ${tenantId} and id = ${id}`.execute(db);
  return rows[0];
}

export type AnsweredQuestion = { question: TimetableQuestion; versionNumber: number };

/** Returns undefined when the question was answered before, or does not exist. */
export async function writeAnswer(
  trx: SharedDb,
  input: { tenantId: string; id: string; answer: unknown; problem: string | null },
): Promise<AnsweredQuestion | undefined> {
  const { rows } = await sql<AnsweredQuestion>`
    update callback_requests set answer = ${input.answer === null ? null : JSON.stringify(input.answer)},
      problem = ${input.problem}
    where tenant_id = ${input.tenantId} and id = ${input.id} and which = ${TIMETABLE} and state in ('queued', 'running')
      and answer is null and problem is null
    returning question, version_number as "versionNumber"`.execute(trx);
  return rows[0];
}

/**
 * Takes DAGs whose timetable must be asked, and postpones their moment, so that a lost question is asked again then.
 */
export async function takeDagsToAsk(
  db: SharedDb,
  { now, again, limit }: { now: Moment; again: Moment; limit: number },
): Promise<DagKey[]> {
  // Query plan: index dags_timetable_ask from its start.
  const { rows } = await sql<DagKey>`
    with due as (
      select d.tenant_id, d.dag_id from dags d
      where d.timetable_ask_at <= ${now} and not d.is_stale and ${ofActiveTenant('d')}
      order by d.timetable_ask_at limit ${limit} for no key update skip locked
    )
    update dags set timetable_ask_at = ${again} from due
    where dags.tenant_id = due.tenant_id and dags.dag_id = due.dag_id
    returning dags.tenant_id as "tenantId", dags.dag_id as "dagId"`.execute(db);
  return rows;
}

/** Returns when the next question is due after the given moment. */
export async function nextQuestionAt(db: SharedDb, after: Moment): Promise<Moment | null> {
  const { rows } = await sql<{ at: Moment }>`
    select timetable_ask_at as at from dags where timetable_ask_at > ${after} and not is_stale
    order by timetable_ask_at limit 1`.execute(db);
  return rows[0]?.at ?? null;
}

/** Drops questions without an answer. A new question replaces them. */
export async function dropOpenQuestions(trx: SharedDb, key: DagKey): Promise<void> {
  await sql`
    update callback_requests set state = 'failed'
    where tenant_id = ${key.tenantId} and dag_id = ${key.dagId} and which = ${TIMETABLE}
      and state in ('queued', 'running') and question ->> 'kind' in ('runs', 'keys')`.execute(trx);
}

export type AskedDag = {
  timetable: TimetableSpec;
  catchup: boolean;
  start_date: Moment | null;
  end_date: Moment | null;
  current_version: number;
  next_dagrun_data_interval_start: Moment | null;
  next_dagrun_data_interval_end: Moment | null;
};

export async function lockAskedDag(trx: SharedDb, key: DagKey): Promise<AskedDag | undefined> {
  const { rows } = await sql<AskedDag>`
    select timetable, catchup, start_date, end_date, current_version, next_dagrun_data_interval_start,
      next_dagrun_data_interval_end
    from dags where tenant_id = ${key.tenantId} and dag_id = ${key.dagId} for no key update`.execute(trx);
  return rows[0];
}

/** Schedules a question, unless one is scheduled already. */
export async function askSoon(trx: SharedDb, key: DagKey, at: Moment): Promise<void> {
  await trx
    .updateTable('dags')
    .set({ timetable_ask_at: at })
    .where('tenant_id', '=', key.tenantId)
    .where('dag_id', '=', key.dagId)
    .where('timetable_ask_at', 'is', null)
    .execute();
}

/** `askAt` null: no more questions. `timetable` undefined: unchanged. */
export async function setTimetable(
  trx: SharedDb,
  key: DagKey,
  change: { timetable?: TimetableSpec; askAt: Moment | null },
): Promise<void> {
  await trx
    .updateTable('dags')
    .set({
      timetable_ask_at: change.askAt,
      ...(change.timetable && { timetable: JSON.stringify(change.timetable) }),
    })
    .where('tenant_id', '=', key.tenantId)
    .where('dag_id', '=', key.dagId)
    .execute();
}

const WARNING = 'timetable';

/** Stores the error of the timetable as a warning for people. Null after the timetable has answered. */
export async function noteTimetableProblem(trx: SharedDb, key: DagKey, message: string | null): Promise<void> {
  await trx
    .deleteFrom('dag_warnings')
    .where('tenant_id', '=', key.tenantId)
    .where('dag_id', '=', key.dagId)
    .where('warning_type', '=', WARNING)
    .execute();
  if (message === null) return;
  await sql`
    insert into dag_warnings (tenant_id, dag_id, warning_type, message)
    values (${key.tenantId}, ${key.dagId}, ${WARNING}, ${message.slice(0, 4_000)}) on conflict do nothing`.execute(trx);
}
