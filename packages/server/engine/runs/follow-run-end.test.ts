import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sql } from 'kysely';
import type { Database, TenantDb } from '../../db/database.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import { createApplyToRun } from '../advance/apply-to-runs.ts';
import { createAssetRuns, recordAssetEvents } from './asset-events.ts';
import { createBackfill } from '../edit/create-backfill.ts';
import { createBackfillRunner } from './backfills.ts';
import { createRunCreator } from './create-run.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import { createRunEndFollower } from './follow-run-end.ts';
import { createTimetableRuns } from './timetable-runs.ts';

let close: OpenTestDatabase['close'] | undefined;
let db: Database;
let tenantId = '';
let tenant: TenantDb;
beforeAll(async () => {
  ({ db, tenantId, tenant, close } = await openTestDatabase());
});
beforeEach(() => sql`delete from dags`.execute(db.shared));
afterAll(() => close?.());

const graphs = createDagGraphs();
const tools = { graphs, applyToRun: createApplyToRun(graphs) };
const parts = () => {
  const common = { db, createRun: createRunCreator(graphs), onEffects: () => {}, log: console };
  const timetables = createTimetableRuns(common);
  const assetRuns = createAssetRuns(common);
  const backfills = createBackfillRunner({ ...common, tools });
  return { timetables, assetRuns, backfills, follow: createRunEndFollower({ db, timetables, assetRuns, backfills }) };
};
const daily = { type: 'cron_trigger' as const, expression: '0 0 * * *', timezone: 'UTC' };
const running = (dagId: string) =>
  tenant.selectFrom('dag_runs').select('run_id').where('dag_id', '=', dagId).where('state', '=', 'running').execute();
const endRuns = (dagId: string) =>
  tenant.updateTable('dag_runs').set({ state: 'success' }).where('dag_id', '=', dagId).execute();

it('a backlog of dates goes on with the end of each run, not with the next tick', async () => {
  const dag = { start_date: '2026-01-01T00:00:00+00:00', catchup: true, max_active_runs: 1 };
  await registerScheduledDag(tenant, { dagId: 'backlog', schedule: daily, dag });
  const { timetables, follow } = parts();
  await timetables.createDue({ now: new Date().toISOString(), limit: 10 });
  for (const day of ['01', '02', '03']) {
    expect(await running('backlog')).toEqual([{ run_id: `scheduled__2026-01-${day}T00:00:00+00:00` }]);
    await endRuns('backlog');
    await follow({ tenantId, dagId: 'backlog' });
  }
});

it('asset events that waited for room, and the next run of a backfill, go on with the end of a run', async () => {
  const asset = { type: 'asset' as const, name: 'a', uri: 'x://a' };
  const schedule = { type: 'asset_or_time' as const, timetable: daily, assets: asset };
  await registerScheduledDag(tenant, { dagId: 'both', schedule, dag: { max_active_runs: 1 } }, '2226-01-01T00:00:00Z');
  const { assetRuns, backfills, follow } = parts();
  const happen = () =>
    db.shared.transaction().execute((trx) => {
      const source = { tenantId, run: 1, dagId: 'p', runId: 'r', taskId: 't', mapIndex: -1 };
      return recordAssetEvents(trx, source, [{ asset: { name: 'a', uri: 'x://a' } }]);
    });
  await happen();
  await assetRuns.considerAll();
  await happen();
  await assetRuns.considerAll();
  const request = {
    dagId: 'both',
    fromDate: '2026-01-01T00:00:00Z',
    toDate: '2026-01-02T00:00:00Z',
    runBackwards: false,
    conf: null,
    reprocess: 'none' as const,
    maxActiveRuns: 1,
    onLatestVersion: true,
  };
  await db.shared.transaction().execute((trx) => createBackfill(trx, tools, { tenantId, request, user: null }));
  await backfills.advance();
  expect(await running('both')).toHaveLength(2);
  const before = new Set((await running('both')).map((run) => run.run_id));
  await tenant.updateTable('dag_runs').set({ state: 'success' }).where('state', '=', 'running').execute();
  await follow({ tenantId, dagId: 'both' });
  const after = (await running('both')).map((run) => run.run_id);
  expect(after).toHaveLength(2);
  expect(after.filter((runId) => before.has(runId))).toEqual([]);
});

it('the end of a run whose DAG is gone causes nothing', async () => {
  await expect(parts().follow({ tenantId, dagId: 'gone' })).resolves.toBeUndefined();
});
