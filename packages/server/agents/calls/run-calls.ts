/** Calls of tasks about runs and their instances, and about DAGs. */
import { momentOf } from '@svc/spec/clock.ts';
import { isRunState, isTaskState } from '@svc/spec/states.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import type { Instant } from '@svc/spec/timetables/instant.ts';
import { customIn } from '@svc/spec/timetables/custom-runs.ts';
import { nextRun } from '@svc/spec/timetables/next-run.ts';
import { readExternalStates } from '../../db/dag-runs/external-states.ts';
import { findPreviousInstance, findPreviousRun } from '../../db/dag-runs/previous.ts';
import { findDataInterval, findLogicalDate, findRunState } from '../../db/dag-runs/run-lookups.ts';
import { findDag } from '../../db/dags/dags.ts';
import { findCurrentVersion } from '../../db/dags/version-lookups.ts';
import type { Database } from '../../db/database.ts';
import type { ReadAssetEvents } from '../collaborators.ts';
import { RpcError } from '../rpc-errors.ts';
import type { AttemptVersions } from '../versions.ts';
import type { Moment } from '../../db/schema.ts';
import type { CallContext, CallMethod, Params } from './call-context.ts';

type RunMethod =
  | 'get_dag'
  | 'get_dag_run_state'
  | 'previous_run'
  | 'previous_instance'
  | 'external_states'
  | 'next_run_after'
  | 'asset_events';

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
      const state = await findRunState(db.tenant(identity.tenantId), dagId, runId);
      if (state === undefined) throw new RpcError('not_found', `DAG ${dagId} has no run ${runId}`);
      return { json: JSON.stringify({ state }) };
    },

    /** The run before this one by logical date. A run without a date has none. */
    async previous_run({ identity, params }) {
      const state = stateIn(params, isRunState);
      const scoped = db.tenant(identity.tenantId);
      const before = await findLogicalDate(scoped, identity.run);
      const run = before === null ? undefined : await findPreviousRun(scoped, { dagId: identity.dagId, before, state });
      return { json: JSON.stringify(run ?? null) };
    },

    async previous_instance({ identity, params }) {
      const scoped = db.tenant(identity.tenantId);
      const before = momentIn(params, 'before') ?? (await findLogicalDate(scoped, identity.run)) ?? undefined;
      const found = await findPreviousInstance(scoped, {
        dagId: identity.dagId,
        taskId: identity.taskId,
        mapIndex: params.optionalInteger('map_index') ?? -1,
        state: stateIn(params, isTaskState),
        before,
      });
      return { json: JSON.stringify(found ?? null) };
    },

    async get_dag({ identity, params }) {
      const dagId = params.text('dag_id');
      const dag = await findDag(db.tenant(identity.tenantId), dagId);
      if (dag === undefined) throw new RpcError('not_found', `there is no DAG ${dagId}`);
      return {
        json: JSON.stringify({
          dag_id: dagId,
          is_paused: dag.is_paused,
          bundle_name: dag.bundle_name,
          bundle_version: dag.bundle_version,
          relative_fileloc: dag.relative_fileloc,
          owners: dag.owners.join(', '),
          tags: dag.tags,
          next_dagrun: dag.next_dagrun_logical_date,
        }),
      };
    },

    external_states: (context) => externalStates({ db, versions }, context),

    async next_run_after({ identity, version }) {
      const run = await findDataInterval(db.tenant(identity.tenantId), identity.run);
      const start = instantOf(run?.data_interval_start ?? null);
      const end = instantOf(run?.data_interval_end ?? null);
      if (start === null || end === null) return { json: 'null' };
      // The direct successor, whether or not the DAG catches up or has ended, because even the last run of all becomes
      // late. The DAG's row has what the author's timetable has answered since.
      const current = customIn(version.timetable)
        ? await findDag(db.tenant(identity.tenantId), identity.dagId)
        : undefined;
      const next = nextRun(current?.timetable ?? version.timetable, {
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
        ...filtersOf(params),
      });
      return { json: JSON.stringify(found) };
    },
  };
}

function momentIn(params: Params, name: 'after' | 'before'): Moment | undefined {
  const text = params.optionalText(name);
  const moment = text === undefined ? undefined : momentOf(text);
  if (text !== undefined && moment === undefined) throw new RpcError('invalid', `${name} must be a moment in ISO 8601`);
  return moment;
}

function stateIn<State extends string>(params: Params, isState: (word: string) => word is State): State | undefined {
  const word = params.optionalText('state');
  if (word === undefined || isState(word)) return word;
  throw new RpcError('invalid', `there is no state ${word}`);
}

/** Bounds, order and limit of the events that a task reads. */
function filtersOf(params: Params) {
  const [after, before, limit] = [
    momentIn(params, 'after'),
    momentIn(params, 'before'),
    params.optionalInteger('limit'),
  ];
  if (limit !== undefined && limit < 1) throw new RpcError('invalid', 'limit must be 1 or more');
  return {
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
    ...(limit !== undefined && { limit }),
    ...(params.has('ascending') && !params.flag('ascending') && { descending: true }),
  };
}

const instantOf = (text: string | null): Instant | null => (text === null ? null : instantFromIso(text));

/**
 * Returns states of another DAG's runs, or of tasks in them, by run ids or by logical dates. An empty list of tasks
 * means all.
 */
async function externalStates(
  { db, versions }: { db: Database; versions: AttemptVersions },
  { identity, params }: CallContext,
) {
  const { tenantId } = identity;
  const dagId = params.text('dag_id');
  const groupId = params.optionalText('task_group_id');
  const logicalDates = params.optionalTexts('logical_dates');
  const runIds = params.optionalTexts('run_ids');
  const scoped = db.tenant(tenantId);
  const versionNumber = await findCurrentVersion(scoped, dagId);
  const version = versionNumber === undefined ? undefined : await versions.get({ tenantId, dagId, versionNumber });
  const named = params.optionalTexts('task_ids');
  const group = groupId === undefined ? undefined : version?.groups.get(groupId);
  const namedOrAll = named?.length === 0 ? 'all' : named;
  const tasks = groupId === undefined ? namedOrAll : (group ?? []);
  const states = await readExternalStates(scoped, { tenantId, dagId, logicalDates, runIds, tasks });
  return {
    json: JSON.stringify({
      dag_exists: versionNumber !== undefined,
      missing_task_ids: (named ?? []).filter((id) => !version?.tasks.has(id)),
      missing_task_group: groupId !== undefined && group === undefined,
      states,
    }),
  };
}
