import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { allowAnyState } from '@svc/testing/postgres/legal-transitions.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { ensureTenant } from '../auth/tenants.ts';
import { countRuns } from '../db/dag-runs/filters.ts';
import { openDatabase } from '../db/database.ts';
import type { Database, SharedDb } from '../db/database.ts';
import { removeRuns } from '../db/prune/old-runs.ts';
import { releasePruneLease, takePruneLease } from '../db/prune/prune-lease.ts';
import { countRemovedLogs } from '../db/prune/removed-logs.ts';
import { lockRuns } from '../engine/sql/run-writes.ts';
import type { LogScope } from '../logs/log-key.ts';
import { createRetention } from './background.ts';
import { PruneLeaseLostError, prune } from './prune.ts';
import type { PruneInput, TenantReport } from './prune.ts';
import { createLogRemoval } from './remove-logs.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let tenantId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, maxOpenConns: 6, maxIdleConns: 2, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 }); // prettier-ignore
  await allowAnyState(db.shared);
  tenantId = (await ensureTenant(db.shared, 'default')).id;
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
/** A DAG for each test: what one leaves, the next does not see. */
let dagId = '';
let tests = 0;
beforeEach(async () => {
  await sql`delete from dags`.execute(db.shared);
  await sql`delete from logs_of_removed_runs`.execute(db.shared);
  dagId = `dag_${(tests += 1)}`;
  await insertDag(db.tenant(tenantId), { dagId });
});

const DAY = 86_400_000;
const RETENTION = 90 * DAY;
const LEASE = '00000000-0000-4000-8000-000000000001';
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY).toISOString();

type Values = Partial<Parameters<typeof insertRun>[1]>;
/** A run that ended so many days ago. */
const addRun = (runId: string, days: number, values: Values = {}): Promise<number> =>
  insertRun(db.tenant(tenantId), {
    dagId,
    runId,
    state: 'success',
    run_after: daysAgo(days),
    start_date: daysAgo(days),
    end_date: daysAgo(days),
    instances: [{ task_id: 'task', state: 'success' }],
    ...values,
  });

async function pruneNow(more: Partial<PruneInput> = {}): Promise<TenantReport> {
  const isTaken = more.leaseBy === undefined;
  if (isTaken) await takePruneLease(db.shared, { by: LEASE, holder: 'test' });
  const report = await prune({
    db,
    olderThanMs: RETENTION,
    auditOlderThanMs: null,
    leaseBy: LEASE,
    logs: null,
    rest: () => 0,
    signal: new AbortController().signal,
    ...more,
  }).finally(() => (isTaken ? releasePruneLease(db.shared, LEASE, { isFinished: false }) : undefined));
  const [tenant] = report.tenants;
  if (!tenant) throw new Error('there is a tenant');
  return tenant;
}

async function runIds(): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select run_id as id from dag_runs order by run_id`.execute(db.shared);
  return rows.map(({ id }) => id);
}
const rowsOf = async (table: string): Promise<number> =>
  (await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db.shared)).rows[0]?.count ??
  0;

describe('what goes', () => {
  it('old finished runs go with everything of theirs, and the numbers of lists stay true', async () => {
    const old = await addRun('old', 100, {
      state: 'failed',
      instances: [{ task_id: 'task', state: 'failed', try_number: 2, history: [{ try_number: 1, state: 'failed' }] }],
    });
    await addRun('recent', 10);
    await addRun('newest', 1);
    const own = { tenantId, old };
    for (const statement of [
      sql`insert into xcoms (tenant_id, run, task_id, key, dag_id, value) values (${own.tenantId}, ${old}, 'task', 'k', ${dagId}, '1')`,
      sql`insert into rendered_fields (tenant_id, run, task_id, fields) values (${own.tenantId}, ${old}, 'task', '{}')`,
      sql`insert into callback_requests (tenant_id, run, dag_id, which, reason, state) values (${own.tenantId}, ${old}, ${dagId}, 'w', 'r', 'done')`,
      sql`insert into deadlines (tenant_id, run, dag_id, position, deadline_time, kept_at) values (${own.tenantId}, ${old}, ${dagId}, 0, now(), now())`,
    ])
      await statement.execute(db.shared);

    const ahead = await pruneNow({ leaseBy: null });
    expect(ahead.removed).toMatchObject({ runs: 1, taskInstances: 1, earlierTries: 1, xcoms: 1, renderedFields: 1 });
    expect(await runIds()).toEqual(['newest', 'old', 'recent']); // only looked

    const { removed } = await pruneNow();
    expect(removed).toEqual(ahead.removed);
    expect(await runIds()).toEqual(['newest', 'recent']);
    for (const table of ['task_instance_history', 'xcoms', 'rendered_fields', 'callback_requests', 'deadlines'])
      expect(await rowsOf(table), table).toBe(0);
    expect(await rowsOf('task_instances')).toBe(2);
    expect(await countRuns(db.tenant(tenantId), {})).toBe(2);
    const { rows } = await sql<object>`select sum(success)::int as success, sum(failed)::int as failed,
      sum(runs_success)::int as runs, sum(runs_failed)::int as runs_failed from instances_of_finished_runs
      where dag_id = ${dagId}`.execute(db.shared);
    expect(rows).toEqual([{ success: 2, failed: 0, runs: 2, runs_failed: 0 }]);
  });

  it('a run that ended without saying when is as old as its time, and an imported one as old as it was', async () => {
    await addRun('undated', 100, { end_date: null });
    await addRun('undated but young', 10, { end_date: null });
    await addRun('imported', 800, { version_number: 0 });
    await addRun('newest', 1);
    await pruneNow();
    expect(await runIds()).toEqual(['newest', 'undated but young']);
  });

  it('a run of an old date that ran lately stays', async () => {
    await addRun('backfilled', 2, { run_after: daysAgo(1_000), logical_date: daysAgo(1_000) });
    await addRun('newest', 1);
    await pruneNow();
    expect(await runIds()).toEqual(['backfilled', 'newest']);
  });

  it('many go in batches, a run of many tasks in one of its own', async () => {
    await addRun('newest', 1);
    await sql`insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, run_after, end_date, triggered_by, version_number, state_counts)
      select ${tenantId}::uuid, ${dagId}, 'many_' || n, 'manual', 'success', now() - interval '100 days', now() - interval '100 days', 't', 1,
        case n when 7 then '{"success": 100000}' else '{"success": 3}' end::jsonb
      from generate_series(1, 1200) n`.execute(db.shared);
    const seen: number[] = [];
    const { removed } = await pruneNow({ onProgress: (report) => seen.push(report.removed.runs) });
    expect(removed.runs).toBe(1_200);
    expect(seen.length).toBeGreaterThanOrEqual(5);
    expect(await runIds()).toEqual(['newest']);
  });

  it('events of assets go when no run and no queue has them; the last of an asset stays', async () => {
    const run = await addRun('kept', 1);
    const old = await addRun('old', 100);
    const { rows: assets } = await sql<{ id: number }>`insert into assets (tenant_id, name, uri, group_name)
      values (${tenantId}, 'a', 'a', 'asset') returning id`.execute(db.shared);
    const asset = assets[0]?.id ?? 0;
    const addEvent = async (source: string | null, days: number): Promise<number> => {
      const { rows } = await sql<{
        id: number;
      }>`insert into asset_events (tenant_id, asset_id, source_dag_id, source_run_id, at)
        values (${tenantId}, ${asset}, ${source === null ? null : dagId}, ${source}, ${daysAgo(days)}) returning id`.execute(
        db.shared,
      );
      return rows[0]?.id ?? 0;
    };
    const gone = await addEvent('old', 100);
    const ofGoneRun = await addEvent(null, 100);
    const ofKeptRun = await addEvent('kept', 100);
    const read = await addEvent(null, 100);
    const queued = await addEvent(null, 100);
    const young = await addEvent(null, 10);
    const use = (from: number, event: number) =>
      sql`insert into dag_run_asset_events (tenant_id, run, event_id) values (${tenantId}, ${from}, ${event})`.execute(
        db.shared,
      );
    await use(run, read);
    await use(old, ofGoneRun);
    await sql`insert into asset_queue (tenant_id, dag_id, event_id, asset_id) values (${tenantId}, ${dagId}, ${queued}, ${asset})`.execute(
      db.shared,
    );
    expect((await pruneNow({ leaseBy: null })).removed.assetEvents).toBe(2);
    expect((await pruneNow()).removed.assetEvents).toBe(2);
    const left = async (): Promise<number[]> =>
      (await sql<{ id: number }>`select id from asset_events order by id`.execute(db.shared)).rows.map(({ id }) => id);
    expect(await left()).toEqual([ofKeptRun, read, queued, young].filter((id) => id !== gone));
    await sql`delete from asset_events where id = ${young}`.execute(db.shared);
    await sql`delete from asset_queue`.execute(db.shared);
    expect((await pruneNow()).removed.assetEvents).toBe(0); // `queued` is the last one of its asset now
    expect(await left()).toEqual([ofKeptRun, read, queued]);
    await sql`delete from assets`.execute(db.shared);
  });

  it('backfills go when they are over and their runs are gone; the audit log only when asked', async () => {
    const { rows } = await sql<{
      id: number;
    }>`insert into backfills (tenant_id, dag_id, from_date, to_date, reprocess_behavior,
        max_active_runs, run_backwards, completed_at)
      select ${tenantId}::uuid, ${dagId}, now(), now(), 'none', 1, false, now() - days * interval '1 day'
      from unnest(array[100, 10]) as days returning id`.execute(db.shared);
    await addRun('of backfill', 100, { backfill_id: rows[0]?.id ?? 0 });
    await addRun('newest', 1);
    await sql`update audit_log set at = now() - interval '500 days' where id = (select min(id) from audit_log)`.execute(
      db.shared,
    );
    const entries = await rowsOf('audit_log');
    expect((await pruneNow({ leaseBy: null })).removed).toMatchObject({ runs: 1, backfills: 1, auditEntries: 0 });
    expect((await pruneNow()).removed).toMatchObject({ runs: 1, backfills: 1, auditEntries: 0 });
    expect(await rowsOf('audit_log')).toBe(entries);
    expect((await pruneNow({ auditOlderThanMs: 400 * DAY })).removed.auditEntries).toBe(1);
    expect(await rowsOf('audit_log')).toBe(entries - 1);
  });
});

describe('what stays although it is old', () => {
  it('runs under way, and the newest of a DAG', async () => {
    await addRun('queued', 300, { state: 'queued', end_date: null });
    await addRun('running', 300, { state: 'running', end_date: null });
    await addRun('old', 200);
    await addRun('last', 150);
    const { kept } = await pruneNow();
    expect(await runIds()).toEqual(['last', 'queued', 'running']);
    expect(kept.newest_of_dag).toBe(1);
  });

  it('as many of the newest as decide whether a DAG that fails is paused', async () => {
    await sql`update dags set max_consecutive_failed_dag_runs = 3`.execute(db.shared);
    for (const days of [100, 101, 102, 103]) await addRun(`failed ${days}`, days, { state: 'failed' });
    await pruneNow();
    expect(await runIds()).toEqual(['failed 100', 'failed 101', 'failed 102']);
  });

  it('the run before one that is under way, and the last success before it', async () => {
    const dated = (runId: string, days: number, values: Values = {}) =>
      addRun(runId, days, { logical_date: daysAgo(days), ...values });
    await dated('1 success', 140);
    await dated('2 success', 130);
    await dated('3 failed', 120, { state: 'failed' });
    await dated('4 running', 110, { state: 'running', end_date: null });
    await dated('5 success', 100);
    await dated('6 newest', 1);
    const { kept } = await pruneNow();
    expect(await runIds()).toEqual(['2 success', '3 failed', '4 running', '6 newest']);
    expect(kept.next_run).toBe(2);
  });

  it('where the schedule goes on, and what the average of a deadline is made of', async () => {
    await addRun('scheduled 1', 200, { run_type: 'scheduled', logical_date: daysAgo(200) });
    await addRun('scheduled 2', 190, { run_type: 'scheduled', logical_date: daysAgo(190) });
    for (const days of [150, 140, 130]) await addRun(`manual ${days}`, days, { logical_date: daysAgo(days) });
    await addRun('newest', 1, { state: 'failed' });
    await sql`update dag_versions set spec = jsonb_set(spec::jsonb, '{dag,deadlines}',
      '[{"reference": "average_runtime", "reference_arguments": {"max_runs": 2}}]')::text`.execute(db.shared);
    await pruneNow();
    expect(await runIds()).toEqual(['manual 130', 'manual 140', 'newest', 'scheduled 2']);
  });

  it('the last partition that a schedule made', async () => {
    const partition = { run_type: 'scheduled', partition_key: 'k', partition_date: daysAgo(200) } as const;
    await addRun('partition 1', 200, partition);
    await addRun('partition 2', 190, partition);
    await addRun('newest', 1);
    await pruneNow();
    expect(await runIds()).toEqual(['newest', 'partition 2']);
  });

  it('runs of a backfill that is not over, and those of which something is still to be done', async () => {
    const { rows } = await sql<{
      id: number;
    }>`insert into backfills (tenant_id, dag_id, from_date, to_date, reprocess_behavior,
        max_active_runs, run_backwards) values (${tenantId}, ${dagId}, now(), now(), 'none', 1, false) returning id`.execute(
      db.shared,
    );
    await addRun('of backfill', 200, { backfill_id: rows[0]?.id ?? 0 });
    await addRun('cleared alone', 200, { instances: [{ task_id: 'task', state: 'scheduled' }] });
    const late = await addRun('deadline', 200);
    await sql`insert into deadlines (tenant_id, run, dag_id, position, deadline_time)
      values (${tenantId}, ${late}, ${dagId}, 0, now())`.execute(db.shared);
    const called = await addRun('callback', 200);
    await sql`insert into callback_requests (tenant_id, run, dag_id, which, reason)
      values (${tenantId}, ${called}, ${dagId}, 'w', 'r')`.execute(db.shared);
    await addRun('gone', 200);
    await addRun('newest', 1);
    const { kept } = await pruneNow();
    expect(await runIds()).toEqual(['callback', 'cleared alone', 'deadline', 'newest', 'of backfill']);
    expect(kept).toEqual({ newest_of_dag: 0, next_run: 0, backfill: 1, unfinished: 3 });
  });

  it('runs of a DAG for which a task of another waits', async () => {
    const waiting = await addRun('waiting', 1, { state: 'running', end_date: null });
    await sql`update task_instances set state = 'deferred', attempt_id = gen_random_uuid() where run = ${waiting}`.execute(
      db.shared,
    );
    await sql`insert into triggers (tenant_id, kind, dag_id, version_number, run, task_id, map_index, try_number, attempt_id, class_path, kwargs,
        awaits, awaits_dag_id, awaits_runs)
      select tenant_id, 'task', dag_id, 1, run, task_id, map_index, try_number, attempt_id, 'c', '{}', '{}', ${dagId}, '{id:waited for}'
      from task_instances where run = ${waiting}`.execute(db.shared);
    await addRun('waited for', 200);
    await pruneNow();
    expect(await runIds()).toEqual(['waited for', 'waiting']);
    await sql`update triggers set fired_at = now()`.execute(db.shared);
    await pruneNow();
    expect(await runIds()).toEqual(['waiting']);
  });
});

describe('beside others', () => {
  it('a run that somebody works on stays, and one that they cleared meanwhile', async () => {
    await addRun('newest', 1);
    const ref = { tenantId, run: await addRun('in use', 200) };
    await addRun('free', 200);
    const locked = Promise.withResolvers<void>();
    const clearing = Promise.withResolvers<void>();
    const cleared = db.shared.transaction().execute(async (trx) => {
      await lockRuns(trx, [ref]);
      locked.resolve();
      await clearing.promise;
      await sql`update dag_runs set state = 'queued', end_date = null where id = ${ref.run}`.execute(trx);
    });
    await locked.promise;
    const { removed, busy } = await pruneNow();
    expect({ runs: removed.runs, busy }).toEqual({ runs: 1, busy: 1 });
    clearing.resolve();
    await cleared;
    expect((await pruneNow()).removed.runs).toBe(0);
    expect(await runIds()).toEqual(['in use', 'newest']);
  });

  it('who comes to clear a run that is just going finds it gone', async () => {
    await addRun('newest', 1);
    const run = await addRun('going', 200);
    const removing = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const removal = db.shared.transaction().execute(async (trx) => {
      const query = { tenantId, before: daysAgo(90), averages: {} };
      expect((await removeRuns(trx, query, [run])).runs).toHaveLength(1);
      removing.resolve();
      await asked.promise;
    });
    await removing.promise;
    const clear = db.shared.transaction().execute(async (trx: SharedDb) => lockRuns(trx, [{ tenantId, run }]));
    await eventually(async () => (await waitingBackends()).length > 0);
    asked.resolve();
    await removal;
    expect(await clear).toEqual([]);
  });

  it('killed in the middle of a batch, every run is there whole or gone, and the next pass goes on', async () => {
    await addRun('newest', 1);
    for (const n of [1, 2, 3]) await addRun(`old ${n}`, 200 + n);
    const isHeld = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = db.shared.transaction().execute(async (trx) => {
      // As who writes a note holds it: of a task, without its run.
      await sql`select from task_instances where run = (select id from dag_runs where run_id = 'old 2') for update`.execute(
        trx,
      );
      isHeld.resolve();
      await held.promise;
    });
    await isHeld.promise;
    await takePruneLease(db.shared, { by: LEASE, holder: 'test' });
    // It waits for a lock only shortly, and may have left the batch when we come to kill it.
    await eventually(async () => {
      let how: 'waits' | 'left' | 'killed' = 'waits';
      const pruning = pruneNow({ leaseBy: LEASE }).then(
        () => (how = 'left'),
        () => (how = 'killed'),
      );
      await eventually(async () => how !== 'waits' || (await waitingBackends()).length > 0);
      for (const pid of await waitingBackends()) await sql`select pg_terminate_backend(${pid})`.execute(db.shared);
      return (await pruning) === 'killed';
    });
    expect(await runIds()).toEqual(['newest', 'old 1', 'old 2', 'old 3']);
    expect(await rowsOf('task_instances')).toBe(4);
    // The lease of the one that died; until it is over nobody else begins.
    expect(await takePruneLease(db.shared, { by: OTHER, holder: 'other' })).toMatchObject({
      kind: 'busy',
      holder: 'test',
    });
    await sql`update prune_state set lease_until = now()`.execute(db.shared);
    held.resolve();
    await holding;
    expect((await pruneNow()).removed.runs).toBe(3);
  });

  it('who waits too long for a lock leaves the batch for the next pass', async () => {
    await addRun('newest', 1);
    const old = await addRun('old', 200);
    const isHeld = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = db.shared.transaction().execute(async (trx) => {
      await sql`select from task_instances where run = ${old} for update`.execute(trx);
      isHeld.resolve();
      await held.promise;
    });
    await isHeld.promise;
    await eventually(async () => (await pruneNow()).busy === 1);
    held.resolve();
    await holding;
    expect((await pruneNow()).removed.runs).toBe(1);
  });

  it('one at a time: who has lost the lease stops before it removes anything', async () => {
    await addRun('newest', 1);
    await addRun('old', 200);
    expect(await takePruneLease(db.shared, { by: OTHER, holder: 'other' })).toEqual({ kind: 'taken' });
    await expect(pruneNow({ leaseBy: LEASE })).rejects.toThrow(PruneLeaseLostError);
    expect(await runIds()).toEqual(['newest', 'old']);
    await releasePruneLease(db.shared, OTHER, { isFinished: true });
    expect(await takePruneLease(db.shared, { by: LEASE, holder: 'test', everyMs: 60_000 })).toMatchObject({
      kind: 'done',
    });
    expect(await takePruneLease(db.shared, { by: LEASE, holder: 'test' })).toEqual({ kind: 'taken' });
    await releasePruneLease(db.shared, LEASE, { isFinished: false });
  });
});

const OTHER = '00000000-0000-4000-8000-000000000002';

async function waitingBackends(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`.execute(db.shared);
  return rows.map(({ pid }) => pid);
}

describe('logs', () => {
  const store = () => {
    const removed: LogScope[] = [];
    let isAway = false;
    return {
      removed,
      goAway: (away: boolean) => (isAway = away),
      remove: async (scope: LogScope) => {
        if (isAway) throw new Error('the store is away');
        removed.push(scope);
      },
    };
  };

  it('go with their runs; those of a store that was away go later, unless a new run has the id', async () => {
    const logs = store();
    const removal = createLogRemoval({ db, logs });
    await addRun('newest', 1);
    await addRun('first', 200);
    await pruneNow({ logs: removal });
    expect(logs.removed).toEqual([{ tenantId, dagId, runId: 'first' }]);
    expect(await countRemovedLogs(db.shared)).toBe(0);

    logs.goAway(true);
    await addRun('second', 200);
    await addRun('third', 200);
    expect((await pruneNow({ logs: removal })).removed.runs).toBe(2);
    expect(await countRemovedLogs(db.shared)).toBe(2);
    await addRun('third', 1); // a backfill of the same date
    logs.goAway(false);
    expect(await removal.removeNoted()).toBe(2);
    expect(logs.removed.map(({ runId }) => runId)).toEqual(['first', 'second']);
    expect(await countRemovedLogs(db.shared)).toBe(0);
  });

  it('a scheduler removes what is past its retention and what others have left, and none when it is off', async () => {
    const logs = store();
    const told: object[] = [];
    const log = { info: (details: object) => told.push(details), warn: (details: object) => told.push(details) };
    const scheduler = (retentionMs: number) =>
      createRetention({
        db,
        logs: createLogRemoval({ db, logs }),
        retentionMs,
        clearsStatesOnSuccess: false,
        holder: 'x',
        everyMs: 1,
        lookEveryMs: 5,
        log,
      });
    await addRun('newest', 1);
    await addRun('old', 200);
    await sql`insert into logs_of_removed_runs (tenant_id, dag_id, run_id) values (${tenantId}, ${dagId}, 'left')`.execute(
      db.shared,
    );
    const off = scheduler(0);
    off.start();
    await eventually(() => logs.removed.length > 0);
    await off.stop();
    expect(logs.removed.map(({ runId }) => runId)).toEqual(['left']);
    expect(await runIds()).toEqual(['newest', 'old']);

    const on = scheduler(RETENTION);
    on.start();
    await eventually(async () => (await runIds()).length === 1);
    await eventually(() => told.length > 0);
    await on.stop();
    expect(logs.removed.map(({ runId }) => runId)).toEqual(['left', 'old']);
    expect(told).toEqual([expect.objectContaining({ tenant: 'default', runs: 1, taskInstances: 1 })]);
    expect(await takePruneLease(db.shared, { by: LEASE, holder: 'test' })).toEqual({ kind: 'taken' }); // given back
    await releasePruneLease(db.shared, LEASE, { isFinished: false });
  });
});
