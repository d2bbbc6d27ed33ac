import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nowIso } from '@svc/spec/clock.ts';
import type { CustomTable, CustomTimetable } from '@svc/spec/timetables/schema.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import { claimCallbacks } from '../sql/callbacks.ts';
import { createRunCreator } from './create-run.ts';
import { createTimetableRuns } from './timetable-runs.ts';
import { askManual, putQuestions, recordAnswer } from './timetable-questions.ts';

let close: OpenTestDatabase['close'] | undefined;
let db: Database;
let tenantId = '';
let tenant: TenantDb;

beforeAll(async () => {
  ({ db, tenantId, tenant, close } = await openTestDatabase());
});
beforeEach(async () => {
  await sql`delete from dags`.execute(db.shared);
  await sql`delete from callback_requests`.execute(db.shared);
});
afterAll(() => close?.());

const HOUR = 3_600_000;
const hour = (number: number) =>
  new Date(Date.UTC(2026, 0, 1) + number * HOUR).toISOString().replace('.000Z', '+00:00');
const runOf = (number: number) => ({ start: hour(number), end: hour(number + 1), run_after: hour(number + 1) });
const table = (first: number, count: number, more: Partial<CustomTable> = {}): CustomTable => ({
  after: null,
  asked_at: hour(0),
  runs: Array.from({ length: count }, (_, index) => runOf(first + index)),
  complete: false,
  ...more,
});
const own = (given?: CustomTable): CustomTimetable => ({
  type: 'custom',
  class: 'mine.Own',
  arguments: {},
  summary: 'own',
  description: '',
  periodic: true,
  can_be_scheduled: true,
  active_runs_limit: null,
  ...(given && { table: given }),
});

const dagOf = () => tenant.selectFrom('dags').selectAll().where('dag_id', '=', 'd').executeTakeFirstOrThrow();
const warnings = () => tenant.selectFrom('dag_warnings').select(['warning_type', 'message']).execute();
const register = (schedule: CustomTimetable, catchup = true) =>
  registerScheduledDag(tenant, { dagId: 'd', schedule, dag: { catchup, start_date: hour(0) } }, hour(3));
const openQuestions = async () =>
  (await claimCallbacks(db)).map(({ id, question, run, versionNumber }) => ({ id, question, run, versionNumber }));
const answer = (id: string, given: unknown, problem: string | null = null) =>
  recordAnswer(db, { tenantId, dagId: 'd', id, answer: given, problem });
const createDue = (now: string) =>
  createTimetableRuns({
    db,
    createRun: createRunCreator(createDagGraphs()),
    onEffects: () => {},
    log: { error: (details) => expect.unreachable(JSON.stringify(details)) },
  }).createDue({ now, limit: 100 });

/** The one question about the DAG that is open. */
async function asked() {
  await putQuestions(db);
  const [question, ...more] = await openQuestions();
  expect(more).toEqual([]);
  if (!question) throw new Error('nothing was asked');
  return question;
}

describe('an own timetable without a usable table', () => {
  it('is asked at once, and its answer is the next run', async () => {
    await register(own());
    expect((await dagOf()).next_dagrun_run_after).toBeNull();
    const { id, question, run, versionNumber } = await asked();
    expect({ question, run, versionNumber }).toEqual({
      question: { kind: 'runs', last: null, earliest: expect.any(String), latest: null, catchup: true },
      run: null,
      versionNumber: 1,
    });
    const { dueAt } = await answer(id, table(2, 40));
    expect([dueAt, (await dagOf()).next_dagrun_run_after]).toEqual([hour(3), expect.stringContaining('2026-01-01')]);
    expect((await dagOf()).timetable_ask_at).toBeNull();
    expect(await createDue(hour(3))).toMatchObject({ created: 1 });
  });

  it('that raises gives its DAG a warning in words, is asked again later, and is forgiven', async () => {
    await register(own());
    await answer((await asked()).id, null, 'the timetable raised ZeroDivisionError');
    expect(await warnings()).toEqual([
      { warning_type: 'timetable', message: 'the timetable raised ZeroDivisionError' },
    ]);
    expect(Date.parse((await dagOf()).timetable_ask_at ?? '')).toBeGreaterThan(Date.now());
    await sql`update dags set timetable_ask_at = now() - interval '1 second'`.execute(db.shared);
    await answer((await asked()).id, table(2, 40));
    expect(await warnings()).toEqual([]);
  });

  it('is asked again when the question is lost; the late answer to the first changes nothing', async () => {
    await register(own());
    const first = await asked();
    await sql`update dags set timetable_ask_at = now() - interval '1 second'`.execute(db.shared);
    const second = await asked();
    expect(await answer(first.id, table(2, 40))).toEqual({ dueAt: null });
    expect((await dagOf()).next_dagrun_run_after).toBeNull();
    expect((await answer(second.id, table(2, 40))).dueAt).toBe(hour(3));
  });

  it('answers for an older version are no answers, nor is what cannot be read', async () => {
    await register(own());
    const { id } = await asked();
    await registerScheduledDag(tenant, {
      dagId: 'd',
      schedule: { ...own(), summary: 'changed' },
      dag: { catchup: true },
    });
    expect(await answer(id, table(2, 40))).toEqual({ dueAt: null });
    await sql`update dags set timetable_ask_at = now() - interval '1 second'`.execute(db.shared);
    await answer((await asked()).id, { runs: [{ start: 'soon' }] });
    expect(await warnings()).toMatchObject([{ message: 'the answer of the timetable cannot be read' }]);
  });
});

describe('a table', () => {
  it('that runs low is asked for more behind its end, and keeps what it knows', async () => {
    await register(own(table(0, 10)));
    expect(await createDue(hour(4))).toMatchObject({ created: 4 });
    const { id, question } = await asked();
    expect(question).toMatchObject({ last: { start: hour(9), end: hour(10) } });
    await answer(id, table(10, 30, { after: { start: hour(9), end: hour(10) } }));
    const { timetable, timetable_ask_at: askAt } = await dagOf();
    expect(timetable).toMatchObject({ table: { after: { start: hour(3) }, runs: { length: 36 } } });
    expect(askAt).toBeNull();
    expect(await createDue(hour(12))).toMatchObject({ created: 8 });
  });

  it('of missed runs without catchup is not used before the timetable was asked again', async () => {
    await register(own(table(0, 30, { asked_at: hour(0) })), false);
    expect(await createDue(hour(20))).toMatchObject({ created: 0 });
    const { id } = await asked();
    await answer(id, table(19, 30, { asked_at: nowIso() }));
    expect(await createDue(hour(20))).toMatchObject({ created: 1 });
  });
});

describe('a manual run', () => {
  it('waits for the answer to its own question, and hears what the timetable raised', async () => {
    await register(own(table(0, 30)));
    const ask = (given: unknown, problem: string | null) =>
      askManual(
        db,
        { tenantId, dagId: 'd' },
        {
          versionNumber: 1,
          at: hour(5),
          wake: () => void openQuestions().then(([question]) => answer(question?.id ?? '', given, problem)),
        },
      );
    expect(await ask({ start: hour(0), end: hour(1) }, null)).toEqual({
      kind: 'answered',
      answer: { start: hour(0), end: hour(1) },
    });
    expect(await ask(null, 'no')).toEqual({ kind: 'failed', problem: 'no' });
    expect(await warnings()).toEqual([]);
  });
});
