import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AssetCondition, TimetableSpec } from '@svc/spec/timetables/schema.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import { readTaskAssetEvents } from '../../db/assets/task-events.ts';
import { holds } from './asset-condition.ts';
import { createAssetRuns, recordAssetEvents, recordExternalEvent } from './asset-events.ts';
import type { AssetEventOutcome } from '../shared/attempts.ts';
import { createRunCreator } from './create-run.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';

let close: OpenTestDatabase['close'] | undefined;
let db: Database;
let tenantId = '';
let tenant: TenantDb;
const errors: string[] = [];

beforeAll(async () => {
  ({ db, tenantId, tenant, close } = await openTestDatabase());
});
beforeEach(clear);
afterAll(() => close?.());

async function clear(): Promise<void> {
  for (const table of ['dags', 'assets', 'asset_aliases']) await sql.raw(`delete from ${table}`).execute(db.shared);
  errors.length = 0;
}

const assetRuns = () =>
  createAssetRuns({
    db,
    createRun: createRunCreator(createDagGraphs()),
    onEffects: () => {},
    log: { error: (_details, message) => void errors.push(message) },
  });

const asset = (name: string) => ({ type: 'asset' as const, name, uri: `x://${name}` });
const all = (...objects: AssetCondition[]): AssetCondition => ({ type: 'asset_all', objects });
const any = (...objects: AssetCondition[]): AssetCondition => ({ type: 'asset_any', objects });
const [a, b, c] = [asset('a'), asset('b'), asset('c')];

const consumer = (
  dagId: string,
  assets: AssetCondition,
  dag: Parameters<typeof registerScheduledDag>[1]['dag'] = {},
): Promise<void> => registerScheduledDag(tenant, { dagId, schedule: { type: 'asset', assets }, dag });

const SOURCE = { run: 1, dagId: 'producer', runId: 'r', taskId: 'write', mapIndex: -1 };
const outcomeOf = (name: string, more: Partial<AssetEventOutcome> = {}): AssetEventOutcome => ({
  asset: { name, uri: `x://${name}` },
  ...more,
});
const record = (...events: AssetEventOutcome[]) =>
  db.shared.transaction().execute((trx) => recordAssetEvents(trx, { ...SOURCE, tenantId }, events));

/** What the tick does. */
const considerAll = () => assetRuns().considerAll();

/** The names of the assets whose events caused each run of a DAG, run by run. */
async function causesOf(dagId: string): Promise<string[][]> {
  const { rows } = await sql<{ names: string[] }>`
    select array_agg(a.name order by e.id) as names from dag_runs r
    join dag_run_asset_events l on l.tenant_id = r.tenant_id and l.run = r.id
    join asset_events e on e.tenant_id = l.tenant_id and e.id = l.event_id
    join assets a on a.tenant_id = e.tenant_id and a.id = e.asset_id
    where r.tenant_id = ${tenantId} and r.dag_id = ${dagId} group by r.id order by r.id`.execute(db.shared);
  return rows.map((row) => row.names);
}
const queued = () => tenant.selectFrom('asset_queue').select(['dag_id', 'is_considered']).execute();
const finishAll = () => tenant.updateTable('dag_runs').set({ state: 'success' }).execute();

it('a task reads events between two moments, oldest or newest first, as many as it asks for', async () => {
  await record(outcomeOf('a', { extra: { n: 1 } }));
  await record(outcomeOf('a', { extra: { n: 2 }, alias: 'either' }));
  await record(outcomeOf('a', { extra: { n: 3 } }));
  const read = async (filter: Partial<Parameters<typeof readTaskAssetEvents>[1]>) =>
    (await readTaskAssetEvents(db.shared, { tenantId, run: 1, name: 'a', ...filter })).map(({ extra }) => extra);
  const all = await readTaskAssetEvents(db.shared, { tenantId, run: 1, name: 'a' });
  const second = all[1]?.timestamp ?? '';
  expect(all.map(({ aliases }) => aliases)).toEqual([[], ['either'], []]);
  expect(await read({ after: second })).toEqual([{ n: 2 }, { n: 3 }]);
  expect(await read({ before: second, descending: true })).toEqual([{ n: 2 }, { n: 1 }]);
  expect(await read({ descending: true, limit: 1 })).toEqual([{ n: 3 }]);
  expect(await read({ after: second, before: second, limit: 5 })).toEqual([{ n: 2 }]);
});

describe('an asset condition', () => {
  it('any: each event makes a run; all: the run waits for the last, and takes every event that waited', async () => {
    await consumer('on-any', any(a, b));
    await consumer('on-all', all(a, b));
    for (const name of ['a', 'a', 'b']) {
      await record(outcomeOf(name));
      await considerAll();
    }
    expect(await causesOf('on-any')).toEqual([['a'], ['a'], ['b']]);
    expect(await causesOf('on-all')).toEqual([['a', 'a', 'b']]);
    expect(await queued()).toEqual([]);
  });

  it('nested to any depth makes the runs that its meaning makes, whatever happens in whatever order', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const { condition } = fc.letrec<{ condition: AssetCondition }>((tie) => ({
      condition: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(...names).map(asset),
        fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((objects) => all(...objects)),
        fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((objects) => any(...objects)),
      ),
    }));
    const happening = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(condition, happening, async (assets, events) => {
        await clear();
        await consumer('consumer', assets, { max_active_runs: 100 });
        const expected: string[][] = [];
        let waiting: string[] = [];
        const meant = JSON.stringify(assets);
        for (const name of events) {
          await record(outcomeOf(name));
          await considerAll();
          if (!meant.includes(`"${name}"`)) continue;
          waiting.push(name);
          const present = waiting.map((each) => ({ name: each, uri: `x://${each}`, aliases: [] }));
          if (!holds(assets, present)) continue;
          expected.push(waiting);
          waiting = [];
        }
        expect(await causesOf('consumer')).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });

  it('by name or by URI finds the asset, also one that nobody has registered', async () => {
    await consumer('by-name', { type: 'asset_name_ref', name: 'late' });
    await consumer('by-uri', { type: 'asset_uri_ref', uri: 'x://late' });
    await record(outcomeOf('late'));
    await considerAll();
    expect(await causesOf('by-name')).toEqual([['late']]);
    expect(await causesOf('by-uri')).toEqual([['late']]);
  });

  it('on an alias waits until a task attaches an asset to it, and from then on hears of that asset', async () => {
    await consumer('on-alias', { type: 'asset_alias', name: 'alias' });
    await consumer('on-both', all(a, { type: 'asset_alias', name: 'alias' }));
    await record(outcomeOf('fresh'));
    expect(await considerAll()).toEqual({ created: 0 });
    await record(outcomeOf('fresh', { alias: 'alias' }));
    expect(await considerAll()).toEqual({ created: 1 });
    await record(outcomeOf('fresh'), outcomeOf('a'));
    await considerAll();
    expect(await causesOf('on-alias')).toEqual([['fresh'], ['fresh']]);
    expect(await causesOf('on-both')).toEqual([['fresh', 'fresh', 'a']]);
  });
});

describe('a run that assets cause', () => {
  it('stands for no date, has an id of its own, and says what caused it', async () => {
    await consumer('dated', a);
    await record(outcomeOf('a', { extra: { rows: 3 } }));
    await considerAll();
    const run = await tenant.selectFrom('dag_runs').selectAll().executeTakeFirstOrThrow();
    expect(run).toMatchObject({
      run_type: 'asset_triggered',
      triggered_by: 'asset',
      state: 'running',
      logical_date: null,
      data_interval_start: null,
      data_interval_end: null,
    });
    expect(run.run_id).toMatch(/^asset_triggered__\d{4}-\d\d-\d\dT[\d:.]+\+00:00_[0-9a-f]{8}$/);
    expect(await tenant.selectFrom('asset_events').selectAll().execute()).toMatchObject([
      {
        source_dag_id: 'producer',
        source_task_id: 'write',
        source_run_id: 'r',
        source_map_index: -1,
        extra: { rows: 3 },
      },
    ]);
  });

  it('beside a timetable leaves the timetable alone', async () => {
    const timetable: TimetableSpec = {
      type: 'asset_or_time',
      timetable: { type: 'cron_trigger', expression: '0 0 * * *', timezone: 'UTC' },
      assets: all(a, b),
    };
    await registerScheduledDag(tenant, { dagId: 'both', schedule: timetable });
    const next = () => tenant.selectFrom('dags').select('next_dagrun_run_after').executeTakeFirstOrThrow();
    const before = await next();
    await record(outcomeOf('a'), outcomeOf('b'));
    await considerAll();
    expect(await causesOf('both')).toEqual([['a', 'b']]);
    expect(await next()).toEqual(before);
  });

  it('waits while max_active_runs is reached, and the next one takes all that came meanwhile', async () => {
    await consumer('limited', a, { max_active_runs: 1 });
    await record(outcomeOf('a'));
    await considerAll();
    for (let n = 0; n < 3; n += 1) {
      await record(outcomeOf('a'));
      expect(await considerAll()).toEqual({ created: 0 });
    }
    await finishAll();
    expect(await considerAll()).toEqual({ created: 1 });
    expect(await causesOf('limited')).toEqual([['a'], ['a', 'a', 'a']]);
  });

  it('is not made where its author allows none, or its params have no value; the DAG is not looked at for ever', async () => {
    await consumer('forbidden', a, { allowed_run_types: ['manual'] });
    const param = { name: 'p', schema: {}, description: null, source: 'dag' as const, has_default: false };
    const schedule = { type: 'asset' as const, assets: a };
    await registerScheduledDag(tenant, { dagId: 'needy', schedule, params: [param] });
    await consumer('good', a);
    await record(outcomeOf('a'));
    expect(await considerAll()).toEqual({ created: 1 });
    expect(errors).toEqual([expect.stringContaining('tried again with the next event')]);
    expect((await queued()).map((row) => row.is_considered)).toEqual([true, true]);
  });
});

describe('who hears of an asset event', () => {
  it('a DAG that is paused or stale does not, also later', async () => {
    await consumer('asleep', a, { is_paused_upon_creation: true });
    await consumer('gone', a);
    await tenant.updateTable('dags').set({ is_stale: true }).where('dag_id', '=', 'gone').execute();
    await record(outcomeOf('a'));
    expect(await queued()).toEqual([]);
    await tenant.updateTable('dags').set({ is_paused: false, is_stale: false }).execute();
    expect(await considerAll()).toEqual({ created: 0 });
  });

  it('a DAG paused after the event keeps it until it goes on', async () => {
    await consumer('paused-later', a);
    await record(outcomeOf('a'));
    await tenant.updateTable('dags').set({ is_paused: true }).execute();
    expect(await considerAll()).toEqual({ created: 0 });
    await tenant.updateTable('dags').set({ is_paused: false }).execute();
    expect(await considerAll()).toEqual({ created: 1 });
  });

  it('nobody in another tenant, though the names are the same', async () => {
    const otherId = (await ensureTenant(db.shared, 'other')).id;
    await registerScheduledDag(db.tenant(otherId), { dagId: 'consumer', schedule: { type: 'asset', assets: a } });
    await record(outcomeOf('a'));
    expect(await considerAll()).toEqual({ created: 0 });
    expect(await db.tenant(otherId).selectFrom('asset_events').select('id').execute()).toEqual([]);
  });

  it('an event of one partition is no news to a schedule without partitions', async () => {
    await consumer('whole', a);
    const [row] = await tenant.selectFrom('assets').select('id').execute();
    const event = (partitionKey: string | null) =>
      db.shared
        .transaction()
        .execute((trx) => recordExternalEvent(trx, tenantId, { assetId: row?.id ?? 0, extra: {}, partitionKey }));
    expect((await event('2026')).consumers).toEqual([]);
    expect((await event(null)).consumers).toEqual(['whole']);
  });
});

describe('no asset event is lost or counted twice', () => {
  it('when two tasks finish at the same moment and neither sees the other', async () => {
    await consumer('waits-for-both', all(a, b), { max_active_runs: 100 });
    for (let round = 0; round < 10; round += 1) {
      const barrier = Promise.withResolvers<void>();
      let recorded = 0;
      const finish = (name: string) =>
        db.shared.transaction().execute(async (trx) => {
          await recordAssetEvents(trx, { ...SOURCE, tenantId }, [outcomeOf(name)]);
          recorded += 1;
          if (recorded === 2) barrier.resolve();
          await barrier.promise; // both have written before either commits
        });
      const key = { tenantId, dagId: 'waits-for-both' };
      await Promise.all(['a', 'b'].map((name) => finish(name).then(() => assetRuns().consider([key]))));
      expect(await causesOf('waits-for-both')).toHaveLength(round + 1);
    }
    expect(await queued()).toEqual([]);
  });

  it('when several processes record and consider at once: every event causes exactly one run', async () => {
    await consumer('any', any(a, b, c), { max_active_runs: 1_000 });
    await consumer('all', all(a, b), { max_active_runs: 1_000 });
    const names = Array.from({ length: 60 }, (_, index) => ['a', 'b', 'c'][index % 3] ?? 'a');
    const keys = ['any', 'all'].map((dagId) => ({ tenantId, dagId }));
    await Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        const process = assetRuns();
        for (const name of names.filter((_name, index) => index % 4 === lane)) {
          await record(outcomeOf(name));
          await process.consider(keys);
        }
      }),
    );
    const count = async (dagId: string) => (await causesOf(dagId)).flat().toSorted();
    expect(await count('any')).toEqual(names.toSorted());
    const left = await tenant.selectFrom('asset_queue').select('event_id').where('dag_id', '=', 'all').execute();
    expect((await count('all')).length + left.length).toBe(40);
    for (const cause of await causesOf('all')) expect(new Set(cause)).toEqual(new Set(['a', 'b']));
    expect(errors).toEqual([]);
  });

  it('when the process dies between the event and the run: the next tick makes it, once', async () => {
    await consumer('orphan', a);
    await record(outcomeOf('a'));
    const created = await Promise.all([considerAll(), considerAll(), considerAll()]);
    expect(created.reduce((sum, step) => sum + step.created, 0)).toBe(1);
    expect(await considerAll()).toEqual({ created: 0 });
  });

  it('a DAG whose condition does not hold yet costs the tick nothing until the next event', async () => {
    await consumer('patient', all(a, b));
    await record(outcomeOf('a'));
    await considerAll();
    expect(await queued()).toEqual([{ dag_id: 'patient', is_considered: true }]);
    const { rows } = await sql`select from asset_queue where not is_considered`.execute(db.shared);
    expect(rows).toHaveLength(0);
  });
});

describe('a new version of a DAG that waits for assets', () => {
  it('is judged by its own condition: what waited may be enough now, or mean nothing any more', async () => {
    await consumer('eager', all(a, b));
    await consumer('elsewhere', all(a, b));
    await record(outcomeOf('a'));
    await considerAll();
    await consumer('eager', any(a, b));
    await consumer('elsewhere', all(b, c));
    expect(await considerAll()).toEqual({ created: 1 });
    expect(await causesOf('eager')).toEqual([['a']]);
    expect(await queued()).toEqual([]);
  });

  it('replaces what the one before waited for, wrote and read', async () => {
    const tasks = { write: { outlets: [a], inlets: [b] } };
    await registerScheduledDag(tenant, { dagId: 'user', schedule: { type: 'asset', assets: c }, tasks });
    const roles = () =>
      tenant
        .selectFrom('asset_references')
        .innerJoin('assets', 'assets.id', 'target_id')
        .select(['role', 'name', 'task_id'])
        .orderBy('role')
        .execute();
    expect(await roles()).toEqual([
      { role: 'inlet', name: 'b', task_id: 'write' },
      { role: 'outlet', name: 'a', task_id: 'write' },
      { role: 'schedule', name: 'c', task_id: '' },
    ]);
    await registerScheduledDag(tenant, { dagId: 'user', tasks: { write: { outlets: [b] } } });
    expect(await roles()).toEqual([{ role: 'outlet', name: 'b', task_id: 'write' }]);
  });

  it('that gives a known name another URI, or a known URI another name, is warned about', async () => {
    await registerScheduledDag(tenant, { dagId: 'first', tasks: { write: { outlets: [a] } } });
    const other = { type: 'asset' as const, name: 'a', uri: 'x://elsewhere' };
    await registerScheduledDag(tenant, { dagId: 'second', tasks: { write: { outlets: [other] } } });
    const warnings = await tenant.selectFrom('dag_warnings').selectAll().execute();
    expect(warnings).toMatchObject([
      { dag_id: 'second', warning_type: 'asset conflict', message: expect.stringContaining('in DAG first') },
    ]);
  });
});
