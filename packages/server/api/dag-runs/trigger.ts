/**
 * Triggers a run. The answer comes when the run is stored and its first tasks may start, unless a limit holds them
 * back.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { isRunId } from '@svc/spec/ids.ts';
import { RUN_TYPES } from '@svc/spec/states.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findDag } from '../../db/dags/dags.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { TenantDb } from '../../db/database.ts';
import { momentOf, nowIso } from '@svc/spec/clock.ts';
import type { NewRun, TriggerResult } from '../../engine/runs/create-run.ts';
import type { TriggerOptions } from '../../engine/runs/trigger-run.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { runBody, storedRun } from './bodies.ts';
import { DagRun, DagRunCreate, RUN_TAGS } from './schemas.ts';
import type { DagRunBody } from './schemas.ts';
import { noSuchDag, staleDag } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

export function registerTrigger(app: App, services: Services): void {
  app.post(
    '/api/v2/dags/:dag_id/dagRuns',
    {
      config: { grows: 'dag', access: 'write:dag_run', refuses: ['already_exists', 'conflict'] },
      schema: {
        operationId: 'trigger_dag_run',
        tags: RUN_TAGS,
        summary: 'Trigger a run',
        description:
          'Everything is optional but the body. Over max_active_runs, and while the DAG is paused, the run waits.',
        params: Type.Object({ dag_id: Type.String() }),
        body: DagRunCreate,
        response: { 200: DagRun },
      },
    },
    async (request) => {
      const { dag_id: dagId } = request.params;
      const { tenantId } = principalOf(request);
      return triggerInName(request, services, {
        run: { ...newRunOf(request.body), dagId, runType: 'manual' },
        precondition: (trx) => refuseUnrunnable(scopedToTenant(trx, tenantId), dagId),
        event: 'trigger_dag_run',
      });
    },
  );
}

/** Creates a run in the name of the caller, with an entry in the audit log. Returns the run. */
export async function triggerInName(
  request: FastifyRequest,
  { db, scheduler }: Services,
  wanted: {
    run: Omit<NewRun, 'triggeredBy' | 'triggeringUser' | 'noteUser'>;
    precondition?: TriggerOptions['precondition'];
    event: string;
    detail?: Record<string, unknown>;
  },
): Promise<DagRunBody> {
  const { tenantId, email } = principalOf(request);
  const { precondition, event, detail = {} } = wanted;
  const input: NewRun = {
    ...wanted.run,
    // A browser sends the page it comes from; scripts do not.
    triggeredBy: request.headers.referer === undefined ? 'rest_api' : 'ui',
    triggeringUser: email,
    noteUser: email,
  };
  const { dagId } = input;
  const result = await scheduler.trigger(tenantId, input, {
    ...(precondition && { precondition }),
    alsoWrite: (trx, { run_id: runId }) => {
      const entry = { event, objectKind: 'dag_run', objectId: runId, dagId, runId, detail };
      return recordAudit(scopedToTenant(trx, tenantId), actorOf(request), entry);
    },
  });
  const { run } = createdRun(result, input);
  const scope = databaseOf(request, db);
  await nextTurn(); // yields to the dispatch of the first task, which the lookup below would delay
  // The run is new, so all of its instances have its version.
  return runBody(await storedRun(scope, { dag_id: dagId, dag_run_id: run.run_id }));
}

async function refuseUnrunnable(db: TenantDb, dagId: string): Promise<void> {
  const dag = await findDag(db, dagId);
  if (!dag) throw noSuchDag(dagId);
  if (dag.is_stale) throw staleDag(dagId);
  if (dag.has_import_errors) throw hasImportErrors(dagId);
}

const hasImportErrors = (dagId: string): ApiError =>
  new ApiError(
    'invalid_request',
    `Dag with dag_id: '${dagId}' has import errors and cannot be triggered: GET /api/v2/importErrors says which`,
  );

export function newRunOf(body: Static<typeof DagRunCreate>): Partial<NewRun> {
  const { dag_run_id: runId, logical_date: logicalDate, conf, note, partition_key: partitionKey } = body;
  if (typeof runId === 'string') refuseBadRunId(runId);
  const dataInterval = intervalOf(body);
  // A run for another date still starts now. Without a date, the scheduler derives both values from one reading of the
  // clock.
  const runAfter = body.run_after ?? (logicalDate ? nowIso() : undefined);
  return {
    ...(typeof runId === 'string' && { runId }),
    ...(typeof logicalDate === 'string' && { logicalDate }),
    ...(dataInterval && { dataInterval }),
    ...(runAfter !== undefined && { runAfter }),
    conf: conf ?? {},
    note: note ?? null,
    partitionKey: partitionKey ?? null,
  };
}

/** Prefixes of ids of other run types. An id with such a prefix could collide with a future run. */
const RESERVED = RUN_TYPES.filter((type) => type !== 'manual').map((type) => `${type}__`);

/** Names with another meaning in a path. */
const UNREACHABLE = new Set(['.', '..', '~']);

function refuseBadRunId(runId: string): void {
  if (!isRunId(runId) || UNREACHABLE.has(runId)) {
    throw new ApiError('invalid_request', 'dag_run_id must be 1 to 250 letters, digits and _ . ~ : + -');
  }
  const prefix = RESERVED.find((reserved) => runId.startsWith(reserved));
  if (prefix !== undefined) {
    throw new ApiError(
      'invalid_request',
      `dag_run_id must not begin with "${prefix}": that is reserved for ${prefix.slice(0, -2)} runs`,
    );
  }
}

function intervalOf(body: Static<typeof DagRunCreate>): { start: string; end: string } | undefined {
  const { data_interval_start: start, data_interval_end: end } = body;
  if (typeof start !== typeof end && (typeof start === 'string' || typeof end === 'string')) {
    throw new ApiError(
      'invalid_request',
      'data_interval_start and data_interval_end belong together: send both or neither',
    );
  }
  if (typeof start !== 'string' || typeof end !== 'string') return undefined;
  if ((momentOf(start) ?? start) > (momentOf(end) ?? end)) {
    throw new ApiError('invalid_request', 'data_interval_start must not be later than data_interval_end');
  }
  return { start, end };
}

/** Returns the created run, or throws the reason why there is none. */
function createdRun(result: TriggerResult, input: NewRun): Extract<TriggerResult, { kind: 'created' }> {
  switch (result.kind) {
    case 'created':
      return result;
    case 'no_such_dag':
      throw noSuchDag(input.dagId);
    case 'duplicate':
      throw new ApiError(
        'already_exists',
        result.what === 'dag_run_id'
          ? `DAG ${input.dagId} has a run with dag_run_id ${input.runId ?? ''} already: choose another, or leave it out`
          : `DAG ${input.dagId} has a run for logical_date ${input.logicalDate ?? ''} already: choose another, or leave it out`,
      );
    case 'invalid_conf':
      throw new ApiError('invalid_request', result.problems.join('; '));
    case 'timetable_failed':
      throw new ApiError(
        'conflict',
        `the timetable of DAG ${input.dagId} could not be asked which data interval the run has: ${result.problem}. ` +
          'Send data_interval_start and data_interval_end to trigger the run without it.',
      );
    case 'run_type_not_allowed':
      throw new ApiError(
        'invalid_request',
        `DAG ${input.dagId} does not take ${input.runType} runs, only: ${result.allowed.join(', ')}`,
      );
  }
}
