/** Workers of the caller's tenant, and those that serve all tenants: lists them and requests that one drains. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { listWorkers, requestDrain } from '../../db/workers/workers.ts';
import type { WorkerRow } from '../../db/workers/workers.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { DrainWorkerBody, Worker, WorkerCollection, WorkerKind, WorkerState } from './schemas.ts';

const TAGS = ['Workers'];
const Params = Type.Object({ worker_id: Type.String({ format: 'uuid' }) });

export function registerWorkers(app: App, { db }: Services): void {
  const existing = async (tenantId: string, id: string): Promise<WorkerRow> => {
    const [worker] = (await listWorkers(db, { tenantId, id })).workers;
    if (!worker) throw new ApiError('not_found', `there is no worker ${id}`);
    return worker;
  };

  app.get(
    '/api/v2/workers',
    {
      config: { access: 'read:pool' },
      schema: {
        operationId: 'get_workers',
        tags: TAGS,
        summary: 'List workers, by kind, pool and name',
        querystring: Type.Object({
          ...PagingQuery,
          kind: Type.Optional(WorkerKind),
          pool: Type.Optional(Type.String({ description: 'A pool, or a queue that remote workers serve' })),
          state: Type.Optional(WorkerState),
          name: Type.Optional(Type.String()),
        }),
        response: { 200: WorkerCollection },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const { workers, total } = await listWorkers(db, { tenantId, ...request.query });
      return { workers: workers.map(shown), total_entries: total };
    },
  );

  app.get(
    '/api/v2/workers/:worker_id',
    {
      config: { access: 'read:pool' },
      schema: {
        operationId: 'get_worker',
        tags: TAGS,
        summary: 'Get one worker',
        params: Params,
        response: { 200: Worker },
      },
    },
    async (request) => shown(await existing(principalOf(request).tenantId, request.params.worker_id)),
  );

  app.post(
    '/api/v2/workers/:worker_id/drain',
    {
      config: { access: 'write:pool', refuses: ['conflict'] },
      schema: {
        operationId: 'drain_worker',
        tags: TAGS,
        summary: 'Drain a worker: it takes no more tasks, finishes what it runs, and leaves',
        description:
          'It hears of it within seconds. The one of the subprocess executor serves all tenants and leaves with the control plane only: 409.',
        params: Params,
        body: DrainWorkerBody,
        response: { 200: Worker },
      },
    },
    async (request) => {
      const { tenantId, email } = principalOf(request);
      const { worker_id: id } = request.params;
      const worker = await existing(tenantId, id);
      if (worker.tenant_id === null)
        throw new ApiError('conflict', `worker ${worker.name} serves all tenants: stop the control plane to end it`);
      const { why = '' } = request.body;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          // This table belongs to all tenants, so the statement names the tenant.
          if (!(await requestDrain(trx, { tenantId, id, by: email, why })))
            throw new ApiError('conflict', `worker ${worker.name} has left already`);
          await recordAudit(trx, actorOf(request), {
            event: 'drain_worker',
            objectKind: 'worker',
            objectId: worker.name,
            detail: { id, why },
          });
        });
      return shown(await existing(tenantId, id));
    },
  );
}

const shown = ({ tenant_id: _tenant, owner: _owner, ...worker }: WorkerRow): Static<typeof Worker> => worker;
