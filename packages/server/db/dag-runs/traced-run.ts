/** What the span of a run needs: the run, and the runs of which it is a consequence. */
import type { TenantDb } from '../database.ts';
import type { RunRow } from '../schema.ts';

/** An event has one source, and a run takes the events of few assets. This bounds the others. */
const MOST = 50;

export const findTracedRun = (db: TenantDb, run: number): Promise<RunRow | undefined> =>
  db.selectFrom('dag_runs').selectAll().where('id', '=', run).executeTakeFirst();

/** The runs whose asset events created this run. Query plan: primary keys, and dag_runs by DAG and run id. */
export const findCausesOfRun = (db: TenantDb, run: number) =>
  db
    .selectFrom('dag_run_asset_events as x')
    .innerJoin('asset_events as e', 'e.id', 'x.event_id')
    .innerJoin('dag_runs as r', (join) =>
      join.onRef('r.dag_id', '=', 'e.source_dag_id').onRef('r.run_id', '=', 'e.source_run_id'),
    )
    .select(['r.tenant_id', 'r.id', 'r.conf'])
    .where('x.run', '=', run)
    .limit(MOST)
    .execute();
