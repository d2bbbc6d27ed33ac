/** Backfills: runs for past dates. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findBackfill, listBackfills } from '../../db/dag-runs/backfills.ts';
import type { BackfillRow } from '../../db/dag-runs/backfills.ts';
import { findDag } from '../../db/dags/dags.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { SharedDb, TenantDb } from '../../db/database.ts';
import { customIn } from '@svc/spec/timetables/custom-runs.ts';
import { instantToIso } from '@svc/spec/timetables/instant.ts';
import { MAX_RUNS, dateOf } from '../../engine/runs/backfill-plan.ts';
import type { BackfillRequest } from '../../engine/runs/backfill-plan.ts';
import { createBackfill } from '../../engine/edit/create-backfill.ts';
import { cancelBackfill, createBackfillRunner, pauseBackfill, planBackfill } from '../../engine/runs/backfills.ts';
import type { BackfillChange, BackfillPlan, BackfillRunner } from '../../engine/runs/backfills.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { BACKFILL_ORDER, Backfill, BackfillCreate, BackfillDates, backfillBody } from './schemas.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { Collection, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { staleDag } from '../paths.ts';
import type { Services } from '../services.ts';

const TAGS = ['Backfills'];
const Params = Type.Object({
  backfill_id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
});

export function registerBackfills(app: App, services: Services): void {
  const { db, scheduler } = services;
  const runner = createBackfillRunner({
    db,
    tools: scheduler,
    onEffects: (effects) => scheduler.applyEffects(effects),
    log: app.log,
  });
  registerReads(app, services);
  registerCreate(app, services, runner);
  registerDryRun(app, services);
  registerChanges(app, services, runner);
}

function registerReads(app: App, { db }: Services): void {
  app.get(
    '/api/v2/backfills',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'list_backfills',
        tags: TAGS,
        summary: 'List backfills',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery(Object.keys(BACKFILL_ORDER)),
          dag_id: Type.Optional(Type.String()),
          active: Type.Optional(Type.Boolean({ description: 'Only those that are not completed; false: the others' })),
        }),
        response: { 200: Collection('BackfillCollection', 'backfills', Backfill) },
      },
    },
    async (request) => {
      const { limit, offset, order_by: keys, dag_id: dagId, active: isActive } = request.query;
      const { backfills, total } = await listBackfills(databaseOf(request, db), {
        limit,
        offset,
        order: parseOrderBy(keys, BACKFILL_ORDER, [{ column: 'id', direction: 'asc' }]),
        ...(dagId !== undefined && { dagId }),
        ...(isActive !== undefined && { isActive }),
      });
      return { backfills: backfills.map(backfillBody), total_entries: total };
    },
  );

  app.get(
    '/api/v2/backfills/:backfill_id',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_backfill',
        tags: TAGS,
        summary: 'Get one backfill',
        params: Params,
        response: { 200: Backfill },
      },
    },
    async (request) => backfillBody(await existingBackfill(databaseOf(request, db), request.params.backfill_id)),
  );
}

function registerCreate(app: App, { db, scheduler }: Services, runner: BackfillRunner): void {
  app.post(
    '/api/v2/backfills',
    {
      config: { access: 'write:dag_run', refuses: ['conflict', 'not_found'] },
      schema: {
        operationId: 'create_backfill',
        tags: TAGS,
        summary: 'Create a backfill: the runs of a range of dates',
        description: 'All of them are queued at once; `max_active_runs` of them run at a time.',
        body: BackfillCreate,
        response: { 200: Backfill },
      },
    },
    async (request) => {
      const { tenantId, email } = principalOf(request);
      const wanted = await withOwnRuns(databaseOf(request, db), scheduler, tenantId, requestOf(request.body));
      const input = { tenantId, request: wanted, user: email };
      const { backfillId, effects } = await db.shared.transaction().execute(async (trx) => {
        const result = await createBackfill(trx, scheduler, input);
        if (result.kind !== 'created') throw await refusal(scopedToTenant(trx, tenantId), result, input.request);
        await audit(trx, request, { event: 'create_backfill', id: result.backfillId, dagId: input.request.dagId });
        return result;
      });
      effects.forEach((effect) => scheduler.applyEffects(effect));
      await runner.advance({ tenantId, dagId: input.request.dagId });
      return backfillBody(await existingBackfill(databaseOf(request, db), backfillId));
    },
  );
}

function registerDryRun(app: App, { db, scheduler }: Services): void {
  app.post(
    '/api/v2/backfills/dry_run',
    {
      config: { grows: 'days', access: 'write:dag_run', refuses: ['conflict', 'not_found'] },
      schema: {
        operationId: 'create_backfill_dry_run',
        tags: TAGS,
        summary: 'List the dates that a backfill would run, in its order',
        body: BackfillCreate,
        response: { 200: BackfillDates },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const wanted = await withOwnRuns(databaseOf(request, db), scheduler, tenantId, requestOf(request.body));
      const planned = await planBackfill(db.shared, scheduler, { tenantId, request: wanted });
      if (planned.kind !== 'planned') throw await refusal(databaseOf(request, db), planned, wanted);
      const backfills = planned.steps.map(({ info }) => ({
        logical_date: info.isUndated ? null : dateOf(info),
        partition_key: info.partitionKey ?? null,
        partition_date: info.partitionDate === undefined ? null : instantToIso(info.partitionDate),
      }));
      return { backfills, total_entries: backfills.length };
    },
  );
}

const CHANGES = [
  {
    verb: 'pause',
    summary: 'Pause a backfill: no more of its runs start',
    change: (trx, key) => pauseBackfill(trx, key, true),
  },
  { verb: 'unpause', summary: 'Unpause a backfill', change: (trx, key) => pauseBackfill(trx, key, false) },
  { verb: 'cancel', summary: 'Cancel a backfill; its runs that have not started fail', change: cancelBackfill },
] as const satisfies readonly { verb: string; summary: string; change: typeof cancelBackfill }[];

function registerChanges(app: App, { db }: Services, runner: BackfillRunner): void {
  for (const { verb, summary, change } of CHANGES) {
    app.put(
      `/api/v2/backfills/:backfill_id/${verb}`,
      {
        config: { access: 'write:dag_run', refuses: ['conflict'] },
        schema: {
          operationId: `${verb}_backfill`,
          tags: TAGS,
          summary,
          params: Params,
          response: { 200: Backfill },
        },
      },
      async (request) => {
        const { backfill_id: id } = request.params;
        const { tenantId } = principalOf(request);
        const scope = databaseOf(request, db);
        const { dag_id: dagId } = await existingBackfill(scope, id);
        await db.shared.transaction().execute(async (trx) => {
          refuseChange(await change(trx, { tenantId, dagId, backfillId: id }), id);
          await audit(trx, request, { event: `${verb}_backfill`, id, dagId });
        });
        if (verb === 'unpause') await runner.advance({ tenantId, dagId });
        return backfillBody(await existingBackfill(scope, id));
      },
    );
  }
}

/** Asks an author's own timetable for the runs of the range, because its code does not run here. */
async function withOwnRuns(
  db: TenantDb,
  scheduler: Services['scheduler'],
  tenantId: string,
  request: BackfillRequest,
): Promise<BackfillRequest> {
  const dag = await findDag(db, request.dagId);
  if (!dag || !customIn(dag.timetable)) return request;
  const { fromDate: from, toDate: to } = request;
  const asked = await scheduler.askRange({ tenantId, dagId: request.dagId }, { from, to, count: MAX_RUNS + 1 });
  if (asked.kind === 'failed') {
    throw new ApiError(
      'conflict',
      `the timetable of DAG ${request.dagId} could not be asked for the runs of the range: ${asked.problem}`,
    );
  }
  return { ...request, ownRuns: asked.runs };
}

const requestOf = (body: Static<typeof BackfillCreate>): BackfillRequest => ({
  dagId: body.dag_id,
  fromDate: body.from_date,
  toDate: body.to_date,
  runBackwards: body.run_backwards,
  conf: body.dag_run_conf ?? null,
  reprocess: body.reprocess_behavior,
  maxActiveRuns: body.max_active_runs,
  onLatestVersion: body.run_on_latest_version ?? true,
});

function audit(
  trx: SharedDb,
  request: FastifyRequest,
  { event, id, dagId }: { event: string; id: number; dagId: string },
): Promise<void> {
  const entry = { event, objectKind: 'backfill', objectId: String(id), dagId };
  return recordAudit(scopedToTenant(trx, principalOf(request).tenantId), actorOf(request), entry);
}

const noSuchBackfill = (id: number): ApiError => new ApiError('not_found', `Could not find backfill with id ${id}`);

async function existingBackfill(db: TenantDb, id: number): Promise<BackfillRow> {
  const backfill = await findBackfill(db, id);
  if (!backfill) throw noSuchBackfill(id);
  return backfill;
}

async function refusal(
  db: TenantDb,
  result: Exclude<BackfillPlan, { kind: 'planned' }>,
  { dagId }: BackfillRequest,
): Promise<ApiError> {
  switch (result.kind) {
    case 'no_such_dag':
      return (await findDag(db, dagId)) ? staleDag(dagId) : new ApiError('not_found', `Could not find dag ${dagId}`);
    case 'refused':
      return new ApiError('invalid_request', result.problem);
    case 'already_running':
      return new ApiError(
        'conflict',
        `There is already a running backfill for dag ${dagId}: wait for backfill ${result.backfillId}, or cancel it`,
      );
  }
}

function refuseChange(change: BackfillChange, id: number): void {
  if (change === 'no_such_backfill') throw noSuchBackfill(id);
  if (change === 'completed') throw new ApiError('conflict', 'Backfill is already completed.');
}
