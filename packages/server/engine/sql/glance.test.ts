/** The tick looks into nothing that the glance does not see: whatever it would find must be seen. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { allowAnyState } from '@svc/testing/postgres/legal-transitions.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import { glance } from './glance.ts';
import type { Glance } from './glance.ts';

let database: OpenTestDatabase;
let db: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  ({ db } = database);
  await registerScheduledDag(database.tenant, { dagId: 'one' });
  await allowAnyState(db.shared);
  for (const statement of [RUN, INSTANCE]) await sql.raw(statement).execute(db.shared);
});
afterAll(() => database?.close());

const RUN = `insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, run_after, triggered_by, version_number)
  select tenant_id, dag_id, 'r', 'manual', 'success', now(), 'test', 1 from dags`;
const INSTANCE = `insert into task_instances (tenant_id, run, task_id, dag_id, state, max_tries, operator, pool, pool_slots,
    priority_weight, queue, upstream, version_number)
  select tenant_id, id, 'task', dag_id, 'success', 0, 'o', 'default_pool', 1, 1, 'default', '{}', 1 from dag_runs`;
const BACKFILL = `insert into backfills (tenant_id, dag_id, from_date, to_date, reprocess_behavior, max_active_runs, run_backwards)
  select tenant_id, dag_id, now(), now(), 'none', 1, false from dags`;
const CALLBACK = `insert into callback_requests (tenant_id, run, dag_id, which, reason)
  select tenant_id, id, dag_id, 'on_failure', '' from dag_runs`;
const TRIGGER = `insert into triggers (tenant_id, kind, dag_id, version_number, class_path, kwargs)
  select tenant_id, 'callback', dag_id, 1, 'c', '{}' from dags`;
const DEADLINE = `insert into deadlines (tenant_id, run, dag_id, position, deadline_time)
  select tenant_id, id, dag_id, 0, now() from dag_runs`;

const NOTHING = {
  nextAt: null,
  isDue: false,
  hasClaimable: false,
  hasWaiting: false,
  hasLive: false,
  hasTimedOutRuns: false,
  hasCallbacks: false,
  hasTriggers: false,
};

/** With those changes alone. */
async function seenWith(changes: readonly string[]): Promise<Glance> {
  class Undone extends Error {}
  let seen: Glance | undefined;
  const look = async (trx: SharedDb): Promise<void> => {
    for (const statement of changes) await sql.raw(statement).execute(trx);
    seen = await glance({ ...db, shared: trx });
    throw new Undone();
  };
  await db.shared
    .transaction()
    .execute(look)
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  if (!seen) throw new Error('nobody looked');
  return seen;
}

it('sees nothing to do where all has ended', async () => {
  expect(await seenWith([])).toEqual({ ...NOTHING, wallMs: expect.any(Number) });
});

it.each<[string, Partial<Glance>, readonly string[]]>([
  ['a retry that is due', { isDue: true }, [`update task_instances set state = 'up_for_retry', due_at = now()`]],
  ['a DAG that is due', { isDue: true }, [`update dags set next_dagrun_run_after = now()`]],
  ['a timetable to be asked', { isDue: true }, [`update dags set timetable_ask_at = now()`]],
  ['a deadline that is over', { isDue: true }, [DEADLINE]],
  ['a backfill', { isDue: true }, [BACKFILL]],
  [
    'a run of a backfill that was cleared after its end',
    { isDue: true, hasWaiting: true },
    [
      BACKFILL,
      `update backfills set completed_at = now()`,
      `update dag_runs set state = 'queued', backfill_id = (select id from backfills)`,
    ],
  ],
  ['a queued run', { isDue: false, hasWaiting: true }, [`update dag_runs set state = 'queued'`]],
  ['what may be claimed', { hasClaimable: true }, [`update task_instances set state = 'scheduled', claimable = true`]],
  ['what waits for its past', { hasWaiting: true }, [`update task_instances set state = null, waits = 'past'`]],
  ['what a limit stops', { hasWaiting: true }, [`update task_instances set state = 'scheduled', waits = 'paused'`]],
  ['an attempt', { hasLive: true }, [`update task_instances set state = 'running'`]],
  ['a run whose time is up', { hasTimedOutRuns: true }, [`update dag_runs set state = 'running', timeout_at = now()`]],
  ['a callback', { hasCallbacks: true }, [CALLBACK]],
  ['a trigger', { hasTriggers: true }, [TRIGGER]],
])('sees %s', async (_what, expected, changes) => {
  expect(await seenWith(changes)).toMatchObject(expected);
});

it('says when the next thing is due that is not yet', async () => {
  const seen = await seenWith([
    `update task_instances set state = 'up_for_retry', due_at = timestamptz '2999-01-02'`,
    `update dags set next_dagrun_run_after = timestamptz '2999-01-01'`,
  ]);
  expect({ ...seen, nextAt: new Date(seen.nextAt ?? 0).toISOString() }).toMatchObject({
    isDue: false,
    nextAt: '2999-01-01T00:00:00.000Z',
  });
});
