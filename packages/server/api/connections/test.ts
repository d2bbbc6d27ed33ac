/**
 * Tests a connection with its own hook. The hook is code of providers and authors, so it runs in a process of the
 * agent, and only if the operator allows it. A test makes the machine that runs tasks connect to any address that the
 * caller chooses. A tenant therefore has a few tests a minute, and the audit log has each address: tests are of no use
 * for a scan of ports.
 */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { hasExecutor } from '../../config/executor-names.ts';
import { findDependencyLists } from '../../db/dags/dependency-lists.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findConnection } from '../../db/secrets/connections.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import { MASK } from '../../vault/mask.ts';
import { connectionBinding } from '../../vault/vault.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Services } from '../services.ts';
import { HOOK_FORMS } from './hook-forms.ts';
import { createTestBudget, tooManyTests } from '../test-budget.ts';
import { ConnectionUpdate } from './schemas.ts';
import { mergeConnection, secretsOfConnection } from './writes.ts';
import type { ConnectionChange } from './schemas.ts';

const ConnectionTestResponse = Type.Object(
  { status: Type.Boolean(), message: Type.String({ description: 'What the hook says, secrets as `***`' }) },
  { title: 'ConnectionTestResponse' },
);

/** The name of a connection without a name, or of one that is not stored. */
const UNNAMED = 'connection_under_test';

export type TestTools = { vault: Vault; admit: (change: ConnectionChange) => void };
type TestInput = { request: FastifyRequest; connectionId: string; change: ConnectionChange };
type TestResult = { status: boolean; message: string };

/**
 * Returns a function that checks a request and begins its test. What the test finds comes later, so that a caller can
 * answer before.
 */
export function createConnectionTests(
  services: Services,
  { vault, admit }: TestTools,
): (input: TestInput) => Promise<() => Promise<TestResult>> {
  const { config, db, testConnection } = services;
  const budget = createTestBudget(() => performance.now());
  return async ({ request, connectionId, change }) => {
    if (!config.connections.testEnabled) {
      throw new ApiError(
        'disabled',
        'connections are not tested here: set connections.test_enabled (SVC_CONNECTIONS_TEST_ENABLED=true) to let workers do it',
      );
    }
    if (!testConnection) throw new ApiError('disabled', whyNobodyTests(config));
    const { tenantId } = principalOf(request);
    admit(change);
    const scope = databaseOf(request, db);
    const stored = await findConnection(scope, connectionId);
    const { values } = mergeConnection({ tenantId, connectionId, stored, change, vault });
    const open = (column: 'password' | 'extra'): string | null => {
      const opened = vault.open(values[`${column}_sealed`], connectionBinding(tenantId, connectionId, column));
      if (opened.kind === 'unreadable')
        throw new ApiError('conflict', `the stored ${column} cannot be read with the current keys: send it anew`);
      return opened.kind === 'text' ? opened.text : null;
    };
    const [password, extra] = [open('password'), open('extra')];
    const { conn_type: connType, host, login, schema, port } = values;
    const secrets = secretsOfConnection({ password, extra });
    const waitMs = budget.take(tenantId);
    if (waitMs > 0) throw tooManyTests(waitMs, 'connections');
    for (const secret of secrets) services.secrets.addPassing(secret);
    return async () => {
      const result = await testConnection({
        connection: { conn_type: connType, host, login, password, schema, port, extra },
        ...hookOf(connType),
        environments: await findDependencyLists(scope, tenantId),
        secrets,
      });
      await recordAudit(scope, actorOf(request), {
        event: 'test_connection',
        objectKind: 'connection',
        objectId: connectionId,
        detail: { conn_type: connType, host, port, status: result.status },
      });
      // The agent has masked the message. It is masked again, because author code may have changed it.
      const message = secrets.reduce((said, secret) => said.replaceAll(secret, MASK), result.message);
      return { status: result.status, message };
    };
  };
}

export function registerConnectionTest(app: App, begin: ReturnType<typeof createConnectionTests>): void {
  app.post(
    '/api/v2/connections/test',
    {
      config: { access: 'write:connection', refuses: ['disabled', 'conflict', 'test_rate_limited'] },
      schema: {
        operationId: 'test_connection',
        tags: ['Connections'],
        summary: 'Test a connection with its hook',
        description:
          'Runs on a worker, in the Python environment of a DAG that has the provider. What the body leaves out, or has as ' +
          '`***`, is taken from the stored connection of that id. Off unless `connections.test_enabled`, and where tasks run in pods: 403.',
        body: ConnectionUpdate,
        response: { 200: ConnectionTestResponse },
      },
    },
    async (request) => {
      const { connection_id: connectionId = UNNAMED, ...change } = request.body;
      const finish = await begin({ request, connectionId, change });
      return finish();
    },
  );
}

/** Only a worker of this process can test. Connections contain secrets, which are not stored for a worker elsewhere. */
function whyNobodyTests(config: Services['config']): string {
  const { server } = config;
  if (hasExecutor(config, 'orchestrator')) {
    return 'connections are not tested where tasks run in pods: this process has neither the network nor the packages of a task; trigger a DAG with a task that uses the connection instead';
  }
  return server.role === 'api'
    ? 'this server has the role api, and no workers that could test it: try the connection in a task'
    : 'this process has no workers that could test it: ask one with an executor of type subprocess';
}

function hookOf(connType: string): { hookClass: string | null; provider: string | null } {
  const hookClass = HOOK_FORMS.find((form) => form.connectionType === connType)?.hookClass ?? null;
  const [, provider] = /^airflow\.providers\.(.+?)\.hooks\./.exec(hookClass ?? '') ?? [];
  return {
    hookClass,
    provider: provider === undefined ? null : `apache-airflow-providers-${provider.replaceAll('.', '-')}`,
  };
}
