/**
 * Tokens with which workers on other hosts join. A token covers some queues of the caller's tenant, is shown once, and
 * can be revoked.
 */
import { Type } from 'typebox';
import { generateWorkerToken } from '../../auth/service-tokens.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { deleteWorkerToken, insertWorkerToken, listWorkerTokens } from '../../db/workers/worker-tokens.ts';
import type { WorkerTokenRow } from '../../db/workers/worker-tokens.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { CreateWorkerTokenBody, IssuedWorkerToken, WorkerTokenCollection } from './schemas.ts';

const TAGS = ['Workers'];

/**
 * The holder of a token receives code, connections and variables of the tenant's tasks. The routes therefore need the
 * permission to manage users.
 */
export function registerWorkerTokens(app: App, { db }: Services): void {
  app.get(
    '/api/v2/workerTokens',
    {
      config: { access: 'read:user' },
      schema: {
        operationId: 'get_worker_tokens',
        tags: TAGS,
        summary: 'List the tokens with which workers may join, oldest first',
        querystring: Type.Object(PagingQuery),
        response: { 200: WorkerTokenCollection },
      },
    },
    async (request) => {
      const { tokens, total } = await listWorkerTokens(databaseOf(request, db), request.query);
      return { worker_tokens: tokens, total_entries: total };
    },
  );

  app.post(
    '/api/v2/workerTokens',
    {
      config: { access: 'write:user' },
      schema: {
        operationId: 'post_worker_token',
        tags: TAGS,
        summary: 'Create a token with which workers may join; the answer has it, once',
        description:
          'A worker serves the queues of its token, or fewer. It gets everything that tasks of these queues get.',
        body: CreateWorkerTokenBody,
        response: { 201: IssuedWorkerToken },
      },
    },
    async (request, reply) => {
      const { queues, comment = '', expires_in: expiresIn } = request.body;
      const { token, hash, start } = generateWorkerToken();
      const expiresAt = expiresIn === undefined ? null : new Date(Date.now() + expiresIn * 1_000);
      const created = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const createdBy = principalOf(request).email;
          const row = await insertWorkerToken(trx, { queues, comment, hash, start, createdBy, expiresAt });
          await recordAudit(trx, actorOf(request), entry('post_worker_token', row));
          return row;
        });
      return reply.code(201).send({ ...created, token });
    },
  );

  app.delete(
    '/api/v2/workerTokens/:worker_token_id',
    {
      config: { access: 'write:user' },
      schema: {
        operationId: 'delete_worker_token',
        tags: TAGS,
        summary: 'Revoke a join token; workers that joined with it get no more tasks',
        params: Type.Object({ worker_token_id: Type.String({ format: 'uuid' }) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { worker_token_id: id } = request.params;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const row = await deleteWorkerToken(trx, id);
          if (!row) throw new ApiError('not_found', `there is no worker token ${id}`);
          await recordAudit(trx, actorOf(request), entry('delete_worker_token', row));
        });
      return reply.code(204).send(null);
    },
  );
}

const entry = (event: string, { id, queues, token_start: start, expires_at: expiresAt }: WorkerTokenRow) => ({
  event,
  objectKind: 'worker_token',
  objectId: id,
  detail: { queues, token_start: start, expires_at: expiresAt },
});
