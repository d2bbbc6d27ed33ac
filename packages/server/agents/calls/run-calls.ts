/** What tasks ask about runs: trigger_dag_run, get_dag_run_state, external_states, next_run_after, asset_events. */
import { sql } from 'kysely';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { nextRun } from '@svc/spec/timetables/next-run.ts';
import type { Database } from '../../db/database.ts';
import type { ReadAssetEvents } from '../collaborators.ts';
import { RpcError } from '../rpc-errors.ts';
import type { AttemptVersions } from '../versions.ts';
import type { CallContext, CallMethod } from './call-context.ts';

/** Rows in one answer about other runs: more than any sensor looks at, less than would hurt. */
const MAX_STATES = 10_000;

type RunMethod = 'get_dag_run_state' | 'external_states' | 'next_run_after' | 'asset_events';

export function runCalls(input: {
  db: Database;
  versions: AttemptVersions;
  readAssetEvents: ReadAssetEvents;
}): Record<RunMethod, CallMethod> {
  const { db, versions, readAssetEvents } = input;
  return {
    async get_dag_run_state({ identity, params }) {
      const dagId = params.text('dag_id');
      const runId = params.text('run_id');
      const row = await db
        .tenant(identity.tenantId)
        .selectFrom('dag_runs')
        .select('state')
        .where('dag_id', '=', dagId)
        .where('run_id', '=', runId)
        .executeTakeFirst();
      if (!row) throw new RpcError('not_found', `DAG ${dagId} has no run ${runId}`);
      return { json: JSON.stringify({ state: row.state }) };
    },

    external_states: (context) => externalStates({ db, versions }, context),

    async next_run_after({ identity, version }) {
      const run = await db
        .tenant(identity.tenantId)
        .selectFrom('dag_runs')
        .select(['data_interval_start', 'data_interval_end'])
        .where('id', '=', identity.run)
        .executeTakeFirst();
      const start = instantOf(run?.data_interval_start ?? null);
      const end = instantOf(run?.data_interval_end ?? null);
      if (start === null || end === null) return { json: 'null' };
      // The direct successor, whether or not the DAG catches up or has ended: the last run of all is late one day, too.
      const next = nextRun(version.timetable, {
        lastInterval: { start, end },
        earliest: instantOf(version.startDate),
        latest: null,
        catchup: true,
        now: end,
      });
      return { json: next === null ? 'null' : JSON.stringify(instantToIso(next.runAfter)) };
    },

    async asset_events({ identity, params }) {
      const [name, uri, alias] = ['name', 'uri', 'alias'].map((key) => params.optionalText(key));
      const found = await readAssetEvents({
        tenantId: identity.tenantId,
        run: identity.run,
        triggering: params.flag('triggering'),
        ...(name !== undefined && { name }),
        ...(uri !== undefined && { uri }),
        ...(alias !== undefined && { alias }),
      });
      return { json: JSON.stringify(found) };
    },
  };
}

const instantOf = (text: string | null): Instant | null => (text === null ? null : instantFromIso(text));

type StateRow = {
  logical_date: string | null;
  run_id: string;
  task_id: string | null;
  map_index: number;
  state: string | null;
};

/** States of another DAG's runs, or of tasks in them; named by run id or by logical date. An empty list of tasks is all. */
async function externalStates(
  { db, versions }: { db: Database; versions: AttemptVersions },
  { identity, params }: CallContext,
) {
  const { tenantId } = identity;
  const dagId = params.text('dag_id');
  const groupId = params.optionalText('task_group_id');
  const dates = params.optionalTexts('logical_dates');
  const runIds = params.optionalTexts('run_ids');
  const dag = await db
    .tenant(tenantId)
    .selectFrom('dags')
    .select('current_version')
    .where('dag_id', '=', dagId)
    .executeTakeFirst();
  const version = dag && (await versions.get({ tenantId, dagId, versionNumber: dag.current_version }));
  const named = params.optionalTexts('task_ids');
  const group = groupId === undefined ? undefined : version?.groups.get(groupId);
  const taskIds = groupId === undefined ? named : (group ?? []);
  const runs = sql`
    select r.id, r.run_id, r.logical_date, r.state from dag_runs r
    where r.tenant_id = ${tenantId}::uuid and r.dag_id = ${dagId}
      and (${dates ?? null}::timestamptz[] is null or r.logical_date = any(${dates ?? null}::timestamptz[]))
      and (${runIds ?? null}::text[] is null or r.run_id = any(${runIds ?? null}::text[]))
    order by r.run_after desc limit 1000`;
  const { rows } =
    taskIds === undefined
      ? await sql<StateRow>`
          select r.logical_date, r.run_id, null as task_id, -1 as map_index, r.state from (${runs}) r`.execute(
          db.tenant(tenantId),
        )
      : await sql<StateRow>`
          select r.logical_date, r.run_id, t.task_id, t.map_index, t.state from (${runs}) r
          join task_instances t on t.tenant_id = ${tenantId}::uuid and t.run = r.id
          where (${taskIds.length === 0 && groupId === undefined} or t.task_id = any(${taskIds}::text[]))
          limit ${MAX_STATES}`.execute(db.tenant(tenantId));
  return {
    json: JSON.stringify({
      dag_exists: dag !== undefined,
      missing_task_ids: (named ?? []).filter((id) => !version?.tasks.has(id)),
      missing_task_group: groupId !== undefined && group === undefined,
      states: rows,
    }),
  };
}
