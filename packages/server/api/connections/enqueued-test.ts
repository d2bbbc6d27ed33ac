/**
 * Tests of connections whose results are fetched later, by a token.
 *
 *   pending ──▶ success | failed ──▶ forgotten, 10 minutes after the request
 *
 * The process whose worker tests a connection keeps the result in memory: it is of use only for as long as somebody
 * looks at the form. If the process ends, the token is unknown, and the caller asks again.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { LRUCache } from 'lru-cache';
import { nowIso } from '@svc/spec/clock.ts';
import { principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { ConnectionTestRequest } from './schemas.ts';
import type { ConnectionChange } from './schemas.ts';
import type { createConnectionTests } from './test.ts';

const STATES = ['pending', 'success', 'failed'] as const;
const fields = {
  token: Type.String({ description: 'For the header `Airflow-Connection-Test-Token` of the request for the result' }),
  connection_id: Type.String(),
  state: Type.Enum([...STATES]),
};
const QueuedTest = Type.Object(fields, { title: 'ConnectionTestQueued' });
const TestState = Type.Object(
  {
    ...fields,
    result_message: Nullable(Type.String({ description: 'What the hook says, secrets as `***`' })),
    created_at: DateTime,
  },
  { title: 'ConnectionTestState' },
);

type Test = {
  tenantId: string;
  token: string;
  connection_id: string;
  state: (typeof STATES)[number];
  result_message: string | null;
  created_at: string;
};

const KEPT_MS = 600_000;
/** A tenant begins ten tests a minute at most, so nobody can push out the results of others for long. */
const MOST_KEPT = 10_000;
const ACCESS = 'write:connection';
const TAGS = ['Connections'];

export function registerEnqueuedTests(
  app: App,
  {
    begin,
    save,
  }: {
    begin: ReturnType<typeof createConnectionTests>;
    save: (request: FastifyRequest, connectionId: string, change: ConnectionChange) => Promise<void>;
  },
): void {
  const tests = new LRUCache<string, Test>({ max: MOST_KEPT, ttl: KEPT_MS });

  app.post(
    '/api/v2/connections/enqueue-test',
    {
      config: { access: ACCESS, refuses: ['disabled', 'conflict', 'test_rate_limited'] },
      schema: {
        operationId: 'enqueue_connection_test',
        tags: TAGS,
        summary: 'Begin the test of a connection, whose result can be fetched for 10 minutes',
        description:
          'As `POST /api/v2/connections/test`, without waiting. The process that answers has the result: with several of ' +
          'them behind a load balancer, send the request for it to the same one.',
        body: ConnectionTestRequest,
        response: { 202: QueuedTest },
      },
    },
    async (request, reply) => {
      const { connection_id: connectionId, commit_on_success: isCommitted, executor, queue, ...change } = request.body;
      if (executor || queue) {
        throw new ApiError('unsupported_option', 'executor and queue are not supported: leave them out');
      }
      const { tenantId } = principalOf(request);
      const finish = await begin({ request, connectionId, change });
      const test: Test = {
        tenantId,
        token: randomBytes(32).toString('base64url'),
        connection_id: connectionId,
        state: 'pending',
        result_message: null,
        created_at: nowIso(),
      };
      tests.set(test.token, test);
      void (async () => {
        const { status, message } = await finish();
        if (status && isCommitted) await save(request, connectionId, change);
        Object.assign(test, { state: status ? 'success' : 'failed', result_message: message });
      })().catch((error: unknown) => {
        request.log.error({ code: 'SVC6009', err: error }, 'a test of a connection ended without a result');
        const message = error instanceof ApiError ? error.message : 'the test ended without a result: try again';
        Object.assign(test, { state: 'failed', result_message: message });
      });
      const { token, state } = test;
      return reply.code(202).send({ token, connection_id: connectionId, state });
    },
  );

  app.get(
    '/api/v2/connections/enqueue-test',
    {
      config: { access: ACCESS, refuses: ['not_found'] },
      schema: {
        operationId: 'get_connection_test',
        tags: TAGS,
        summary: 'Get the state of the test of a connection, by its token',
        headers: Type.Object({ 'airflow-connection-test-token': Type.String({ minLength: 1, maxLength: 200 }) }),
        response: { 200: TestState },
      },
    },
    async (request) => {
      const token = request.headers['airflow-connection-test-token'];
      const test = tests.get(token);
      // A token of another tenant is answered like an unknown one.
      if (!test || test.tenantId !== principalOf(request).tenantId) {
        throw new ApiError(
          'not_found',
          'no test of a connection has this token: it is over for 10 minutes, or was never begun',
        );
      }
      const { tenantId: _tenantId, ...body } = test;
      return body;
    },
  );
}
