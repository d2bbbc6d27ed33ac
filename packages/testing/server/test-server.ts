/** A real control plane for tests: own database, real listeners on free ports, log lines kept for inspection. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RoleName } from '@svc/server/auth/permissions.ts';
import { loadConfig } from '@svc/server/config/load.ts';
import type { LoadedConfig } from '@svc/server/config/load.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database } from '@svc/server/db/database.ts';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { insertUser } from '@svc/server/db/identity/users.ts';
import { startServer } from '@svc/server/server.ts';
import { createLogger } from '@svc/server/telemetry/logger.ts';
import { createSecretRegistry } from '@svc/server/telemetry/redact.ts';
import { createIdentities } from '../postgres/database-identities.ts';
import { createTestDatabase } from '../postgres/test-database.ts';

export const TEST_PASSWORD = 'correct horse battery';
/**
 * Of that, by argon2id at the least it can cost: 1 ms of CPU for a sign-in instead of 44, and there are a dozen in each file.
 * The product's own hashes cost what they must (passwords.test.ts).
 */
const CHEAP_HASH = '$argon2id$v=19$m=8,t=1,p=1$RKzqw7V7K+bbr60CgQ6ZCA$DIHMN3TSo1/sL9CZGkVi3fHAYY/f73PdIl9JnJzzIog';
export const ADMIN_EMAIL = 'admin@example.com';

export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

type Call = { method?: string; token?: string; body?: unknown; headers?: Record<string, string> };
export type Answer = { status: number; headers: Headers; text: string; json: <T = Record<string, unknown>>() => T };

type Flags = Record<string, string | string[]>;

/**
 * `flags` are configuration keys, as on the command line. With split roles there is a scheduler beside the server that is
 * called, each with an identity of its own that may do nothing but what its role needs; `SVC_TEST_ROLES=split` makes it so for
 * all that say nothing about it: `SVC_TEST_ROLES=split npx vitest run packages/server/api`.
 */
export async function startTestServer(flags: Flags = {}, { roles = rolesOf(flags) }: { roles?: 'all' | 'split' } = {}) {
  const database = flags['database.url'] === undefined ? await createTestDatabase() : undefined;
  const ownerUrl = database?.url ?? String(flags['database.url']);
  const identities = roles === 'split' ? await createIdentities(ownerUrl) : undefined;
  const taskLogs = await mkdtemp(join(tmpdir(), 'svc-task-logs-'));
  const configure = (more: Flags) => configOf({ 'logs.dir': taskLogs, 'database.url': ownerUrl, ...flags, ...more });
  const logLines: string[] = [];
  const start = async (more: Flags) => {
    const loaded = configure(more);
    const secrets = createSecretRegistry();
    const destination = { write: (line: string) => void logLines.push(line) };
    const logger = createLogger({ level: 'debug', format: 'json', destination, secrets });
    // There is no cluster: a test that runs tasks names an executor.
    const noExecutor = flags['executor.type'] === undefined && { createExecutor: null };
    const started = await startServer({ ...loaded, logger, secrets, ...noExecutor });
    await started.ready;
    return started;
  };
  const scheduler = identities && (await start({ 'server.role': 'scheduler', 'database.url': identities.scheduler }));
  const more: Flags = identities ? { 'server.role': 'api', 'database.url': identities.api } : {};
  const server = await start(more);
  const { config } = configure(more);
  const db: Database = openDatabase({
    url: ownerUrl,
    maxOpenConns: 4,
    maxIdleConns: 1,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });

  if (database && flags['auth.bootstrap.password'] === undefined) {
    const admin = db.shared.updateTable('users').set({ password_hash: CHEAP_HASH });
    await admin.where('email', '=', ADMIN_EMAIL).where('password_hash', 'is not', null).execute();
  }

  async function call(path: string, { method = 'GET', token, body, headers = {} }: Call = {}): Promise<Answer> {
    const response = await fetch(`${server.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (text !== '' && !response.headers.has('content-type'))
      throw new Error(`${method} ${path} answered ${response.status} without a content type`);
    return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T };
  }

  async function login(username = ADMIN_EMAIL, tenant = 'default'): Promise<string> {
    const answer = await call('/auth/token', { method: 'POST', body: { username, password: TEST_PASSWORD, tenant } });
    if (answer.status !== 200) throw new Error(`login of ${username} failed: ${answer.status} ${answer.text}`);
    return answer.json<{ access_token: string }>().access_token;
  }

  /** Makes a user directly in the database; every test user has the same password. */
  async function addUser(input: { email: string; roles: RoleName[]; tenant?: string }): Promise<string> {
    const tenant = await ensureTenant(db.shared, input.tenant ?? 'default');
    const user = await insertUser(db.tenant(tenant.id), {
      email: input.email,
      passwordHash: CHEAP_HASH,
      roles: input.roles,
    });
    if (!user) throw new Error(`user ${input.email} exists already`);
    return user.id;
  }

  return {
    url: server.url,
    metricsUrl: server.metricsUrl,
    compileValues: server.compileValues,
    config,
    db,
    logLines,
    call,
    login,
    addUser,
    async close() {
      await server.close();
      await scheduler?.close();
      await db.close();
      await identities?.drop();
      await database?.drop();
      await rm(taskLogs, { recursive: true, force: true });
    },
  };
}

const rolesOf = (flags: Flags): 'all' | 'split' =>
  process.env['SVC_TEST_ROLES'] === 'split' && flags['server.role'] === undefined ? 'split' : 'all';

const configOf = (flags: Flags): LoadedConfig =>
  loadConfig({
    env: {},
    flags: {
      'server.http-addr': '127.0.0.1:0',
      'server.metrics-addr': '127.0.0.1:0',
      'server.grpc-addr': '127.0.0.1:0',
      'auth.jwt.secret': 'test-jwt-secret-test-jwt-secret-0123456789',
      'secret-key': '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
      'auth.bootstrap.email': ADMIN_EMAIL,
      'auth.bootstrap.password': TEST_PASSWORD,
      'observability.otel.enabled': 'false',
      // Whether the machine has the web UI must make no difference; a test that wants it names it.
      'ui.dist-dir': '/nonexistent',
      ...flags,
    },
  });
