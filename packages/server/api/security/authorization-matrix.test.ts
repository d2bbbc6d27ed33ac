/**
 * Who may call what, for every operation of the API document: each is called by nobody, with every kind of bad token, by every
 * role, and by the administrator of another tenant with this tenant's ids in path, query and body.
 */
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { PLATFORM_PERMISSIONS, ROLE_NAMES, ROLE_PERMISSIONS } from '../../auth/permissions.ts';
import type { Permission, RoleName } from '../../auth/permissions.ts';
import { generateServiceToken } from '../../auth/service-tokens.ts';
import { createTokenSigner } from '../../auth/tokens.ts';
import type { UserClaims } from '../../auth/tokens.ts';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';
import { SEED } from '@svc/testing/seed.ts';
import { readApi, requestFor } from '@svc/testing/server/api-operations.ts';
import type { Api, Operation } from '@svc/testing/server/api-operations.ts';
import { fillTenant } from '@svc/testing/server/tenant-contents.ts';
import type { TenantContents } from '@svc/testing/server/tenant-contents.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let api: Api;
let admin: string;
/** The tenant of the callers with roles, and one that no caller below belongs to. */
let home: TenantContents;
let victim: TenantContents;
let intruder: string;
const byRole = new Map<RoleName | 'none', string>();

beforeAll(async () => {
  // Every operation is called: the identity of an api process has to do for all of them.
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '100000' }, { roles: 'split' });
  api = await readApi(server);
  admin = await server.login();
  home = await fillTenant(server, admin, 'home');
  for (const role of [...ROLE_NAMES, 'none'] as const) {
    await server.addUser({ email: `role-${role}@example.com`, roles: role === 'none' ? [] : [role] });
    byRole.set(role, await server.login(`role-${role}@example.com`));
  }
  await server.addUser({ email: ADMIN_EMAIL, roles: ['admin'], tenant: 'victim' });
  victim = await fillTenant(server, await server.login(ADMIN_EMAIL, 'victim'), 'victim');
  await server.addUser({ email: ADMIN_EMAIL, roles: ['admin'], tenant: 'intruder' });
  intruder = await server.login(ADMIN_EMAIL, 'intruder');
});
afterAll(() => server?.close());

type Problem = { type: string; title: string; status: number; detail: string; instance: string };

/** The few that cannot succeed here, and why that is fine. */
const EXPECTED_TO_FAIL: Record<string, string> = {
  post_rollback: '409 conflict', // it has one deployment
  post_bundle_webhook: '403 webhook_refused', // unsigned; bundles.test.ts has it succeed
  change_password: '401 wrong_credentials', // sessions.test.ts has it succeed
  create_token_all_admins: '403 disabled', // unless authentication is off; tokens.test.ts has them succeed
  login_all_admins: '403 disabled',
  enqueue_connection_test: '403 disabled', // as the next
  get_connection_test: '400 invalid_request', // its token is in a header
  test_connection: '403 disabled', // unless configured; connections/test.test.ts has it succeed
  // There is no identity provider here; oidc.test.ts and single-sign-on.test.ts have them succeed.
  oidc_login: '403 disabled',
  oidc_approve_cli: '403 disabled',
  oidc_cli_token: '403 disabled',
  oidc_device_login: '403 disabled',
  oidc_device_token: '403 disabled',
  get_external_log_url: '400 unsupported_option', // logs are on the disk here
  get_mapped_task_instances: '404 not_found', // the task is not mapped
  create_xcom_entry: '409 already_exists', // under the key that the others find their value by
  create_backfill: '409 conflict', // beside the one that the others find
  materialize_asset: '409 already_exists', // as the next
  update_hitl_detail: '409 conflict', // its task is over; hitl.test.ts has it succeed
  get_pending_partitioned_dag_run: '404 not_found', // nothing is collected by partition
  get_pending_partitioned_dag_run_by_path: '404 not_found',
  clear_dag_run_partitions: '400 invalid_request', // one of two ways to name them; dag-runs/bulk.test.ts has it succeed
  clear_dag_runs: '400 invalid_request', // of a partition and of runs by name; dag-runs/bulk.test.ts has it succeed
  reparse_dag_file: '409 conflict', // there is no workspace
  // There is no workspace; ide.test.ts has one.
  get_workspace: '404 not_found',
  get_workspace_file: '404 not_found',
  put_workspace_file: '404 not_found',
  delete_workspace_file: '404 not_found',
  rename_workspace_file: '404 not_found',
  get_workspace_test: '404 not_found',
  post_workspace_test: '404 not_found',
  delete_workspace_test: '404 not_found',
  read_dag_run_files: '404 not_found', // it needs hashes of files; replay-commit.test.ts has it succeed
  compile_workspace_file: '404 not_found',
  trigger_dag_run: '409 already_exists', // under the id that the others find their run by
};

/** What is of a person or of a session. */
const PEOPLE_ONLY: Record<string, string> = {
  change_password: '403 people_only',
  favorite_dag: '403 people_only',
  unfavorite_dag: '403 people_only',
  renew_token: '401 token_invalid',
  generate_token: '401 token_invalid',
};

const call = (operation: Operation, token: string | undefined, contents: TenantContents) => {
  const request = requestFor(api, operation, contents.values);
  return server.call(request.path, { ...request, ...(token !== undefined && { token }) });
};
const nameOf = (operation: Operation) => `${operation.method} ${operation.path}`;

/** The outcome in a few words: `ok`, or status and code of the problem. A problem that is not whole is an outcome too. */
function outcomeOf(answer: Answer): string {
  if (answer.status < 400) return 'ok';
  if (answer.headers.get('content-type') !== 'application/problem+json')
    return `${answer.status} without a problem body`;
  const problem = answer.json<Problem>();
  const isWhole =
    Object.keys(problem).toSorted().join() === 'detail,instance,status,title,type' &&
    problem.status === answer.status &&
    problem.instance.startsWith('/') &&
    problem.title !== '';
  return `${answer.status} ${isWhole ? problem.type.replace('urn:svc:error:', '') : 'with an incomplete problem body'}`;
}

/** What is made under a name that the caller chooses; in another tenant, the same name is free. */
const CREATES_BY_NAME = new Set(['post_dag_version']);
/** The configuration is of the whole control plane. */
const OF_ALL_TENANTS = new Set(['get_config_value']);
/** For the administrators of the platform, who are in no other tenant than `default`. */
const isOfPlatform = ({ access }: Operation) => PLATFORM_PERMISSIONS.includes(access as Permission);
const isOnOneObject = ({ id, path }: Operation) =>
  path.includes('{') && !CREATES_BY_NAME.has(id) && !OF_ALL_TENANTS.has(id);

/** Calls the operations one after the other; what came of each, by name. */
async function outcomes(
  operations: readonly Operation[],
  attempt: (operation: Operation) => Promise<string>,
): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const operation of operations) result[nameOf(operation)] = await attempt(operation);
  return result;
}

const each = (operations: readonly Operation[], expected: (operation: Operation) => string): Record<string, string> =>
  Object.fromEntries(operations.map((operation) => [nameOf(operation), expected(operation)]));

/**
 * Gives the operations of one caller what they are called with. A deletion takes its object with it, and a backfill cannot be
 * cancelled twice: these operations share objects that no other operation needs, and a second deletion of the same kind of
 * object gets new ones.
 */
function contentsForCaller(
  mayCall: (operation: Operation) => boolean,
): (operation: Operation) => Promise<TenantContents> {
  const ended = new Set<string>();
  let doomed: TenantContents | undefined;
  return async (operation) => {
    if (!mayCall(operation) || !isEnding(operation)) return home;
    const kind = kindOf(operation);
    if (!doomed || ended.has(kind)) {
      doomed = await fillTenant(server, admin, 'doomed');
      ended.clear();
    }
    ended.add(kind);
    return doomed;
  };
}

/** A DAG has the file by which it is asked for until another version of it is posted. */
const NEEDS_NEW_DAG = 'reparse_dag_file';
const isEnding = ({ method, id }: Operation): boolean =>
  method === 'DELETE' || id === 'cancel_backfill' || id === NEEDS_NEW_DAG;
/** The last word of the path that is no parameter. */
const kindOf = ({ path }: Operation): string => path.split('/').findLast((word) => !word.startsWith('{')) ?? '';
/** What ends objects comes last, and what is inside of another object ends before that. */
const endingsLast = (operations: readonly Operation[]): Operation[] => {
  const rank = (operation: Operation): number => {
    if (!isEnding(operation)) return 0;
    return operation.id === NEEDS_NEW_DAG ? 1 : 100 - operation.path.split('/').length;
  };
  return operations.toSorted((a, b) => rank(a) - rank(b));
};

const denialOf = ({ path, access }: Operation): string =>
  path.startsWith('/ui/') ? 'Forbidden' : `missing permission ${access}`;

/** By day, the operations share the cases of a test: each has every fourth case, and the seed chooses which. */
const DAY_SHARE = 4;
const shareOf = (operations: readonly Operation[], number: number): readonly Operation[] =>
  operations.filter((_, index) => IS_NIGHTLY || (index + number) % DAY_SHARE === SEED % DAY_SHARE);

const guarded = () => api.operations.filter((operation) => operation.access !== 'public');

describe('the API document', () => {
  it('has operations of every kind of access, so that the tests below test something', () => {
    const kinds = new Set(api.operations.map((operation) => operation.access));
    for (const kind of ['public', 'user', 'read:user', 'write:user', 'read:connection', 'write:variable'] as const)
      expect(kinds).toContain(kind);
  });

  it('opens to the public only what must be: login, logout, probes and signed webhooks', () => {
    const open = api.operations.filter((operation) => operation.access === 'public').map((operation) => operation.path);
    expect(open.toSorted()).toEqual([
      '/api/v2/auth/login',
      '/api/v2/auth/logout',
      '/api/v2/auth/oidc/cli/approve',
      '/api/v2/auth/oidc/cli/token',
      '/api/v2/auth/oidc/device',
      '/api/v2/auth/oidc/device/token',
      '/api/v2/auth/oidc/login',
      '/api/v2/bundles/{bundle}/webhook',
      '/auth/token',
      '/auth/token',
      '/auth/token/cli',
      '/auth/token/login',
      '/healthz',
      '/readyz',
    ]);
  });

  it('asks for a writing permission wherever something is written', () => {
    const writing = guarded().filter((operation) => !['GET', 'HEAD'].includes(operation.method));
    const lax = writing.filter((operation) => !operation.access.startsWith('write:')).map((operation) => operation.id);
    // Things callers do to themselves only, lists whose filters are too long for a URL, and a secret that is read and
    // audited: it has a separate permission.
    expect(lax.toSorted()).toEqual([
      'change_password',
      'favorite_dag',
      'generate_token',
      'get_list_dag_runs_batch',
      'get_task_instances_batch',
      'post_replay_value',
      'renew_token',
      'unfavorite_dag',
    ]);
  });
});

// This is also the row of the role `admin` in the matrix, which holds every permission.
describe('every operation can be called by an administrator of the tenant: the tests reach it', () => {
  it('succeeds with a request made from its schemas', { timeout: 600_000 }, async () => {
    const contentsOf = contentsForCaller(() => true);
    const seen = await outcomes(endingsLast(api.operations), async (operation) => {
      const token = operation.access === 'public' ? undefined : byRole.get('admin');
      const answer = await call(operation, token, await contentsOf(operation));
      const outcome = outcomeOf(answer);
      const isKnown = outcome === EXPECTED_TO_FAIL[operation.id];
      return outcome.startsWith('400') && !isKnown ? `${outcome}: ${answer.json<Problem>().detail}` : outcome;
    });
    expect(seen).toEqual(each(api.operations, (operation) => EXPECTED_TO_FAIL[operation.id] ?? 'ok'));
  });
});

describe('every operation without a good token', () => {
  const bad: { what: string; outcome: string; token(): Promise<string | undefined> }[] = [
    { what: 'no token', outcome: '401 not_authenticated', token: async () => undefined },
    { what: 'garbage', outcome: '401 token_invalid', token: async () => 'made.up.token' },
    { what: 'an expired token', outcome: '401 token_expired', token: () => resigned({ expiresAt: 1_000_000_000 }) },
    { what: 'a token of an ended session', outcome: '401 session_ended', token: endedSession },
    { what: 'a token with another secret', outcome: '401 token_invalid', token: () => resigned({}, 'x'.repeat(40)) },
    { what: 'a token of an agent', outcome: '401 token_invalid', token: agentToken },
    {
      what: 'an unknown token of a service account',
      outcome: '401 token_invalid',
      token: async () => generateServiceToken(),
    },
    { what: 'a revoked token of a service account', outcome: '401 token_invalid', token: revokedServiceToken },
    { what: 'an expired token of a service account', outcome: '401 token_expired', token: expiredServiceToken },
    { what: 'a session of a disabled tenant', outcome: '401 tenant_disabled', token: sessionOfDisabledTenant },
    { what: 'a session of one tenant in another', outcome: '401 session_ended', token: tokenAcrossTenants },
  ];

  it.each(bad.map((one, number) => ({ ...one, number })))(
    'every operation refuses $what',
    async ({ outcome, token, number }) => {
      const presented = await token();
      const asked = number === 0 ? guarded() : shareOf(guarded(), number);
      const seen = await outcomes(asked, async (operation) => outcomeOf(await call(operation, presented, home)));
      expect(seen).toEqual(each(asked, () => outcome));
    },
  );

  it('every operation refuses a cookie just as it refuses a bearer', async () => {
    const headers = { cookie: '_token=made.up.token', 'sec-fetch-site': 'same-origin' };
    const seen = await outcomes(guarded(), async (operation) => {
      const request = requestFor(api, operation, home.values);
      return outcomeOf(await server.call(request.path, { ...request, headers }));
    });
    expect(seen).toEqual(each(guarded(), () => '401 token_invalid'));
  });

  it('every operation refuses the good token of a service account in a cookie', async () => {
    const token = await serviceToken(`cookie-${crypto.randomUUID()}`);
    const headers = { cookie: `_token=${token}`, 'sec-fetch-site': 'same-origin' };
    const seen = await outcomes(guarded(), async (operation) => {
      const request = requestFor(api, operation, home.values);
      return outcomeOf(await server.call(request.path, { ...request, headers }));
    });
    expect(seen).toEqual(each(guarded(), () => '401 token_invalid'));
  });

  it('no operation can be had by asking for its head', async () => {
    const reading = guarded().filter((operation) => operation.method === 'GET');
    const seen = await outcomes(reading, async (operation) => {
      const { path } = requestFor(api, operation, home.values);
      return String((await server.call(path, { method: 'HEAD' })).status);
    });
    expect(seen).toEqual(each(reading, () => '401'));
  });

  it('no operation can be had by writing its path in another way', async () => {
    const onOne = guarded().filter((operation) => operation.path.endsWith('}'));
    const seen = await outcomes(onOne, async ({ path, method }) => {
      const withSlash = path.replaceAll(/\{\w+\}/g, 'a').replace(/a$/, 'with/slash');
      const { status } = await server.call(withSlash, { method });
      return [401, 404, 405].includes(status) ? 'refused' : String(status);
    });
    expect(seen).toEqual(each(onOne, () => 'refused'));
  });
});

describe('by the authorization matrix, each role', () => {
  const limited = ROLE_NAMES.filter((role) => role !== 'admin');

  it.each([...limited, 'none'] as const)('%s may do what its permissions say, and nothing else', async (role) => {
    const held = new Set<string>(['user', ...(role === 'none' ? [] : ROLE_PERMISSIONS[role])]);
    const contentsOf = contentsForCaller((operation) => held.has(operation.access));
    const seen = await outcomes(endingsLast(guarded()), async (operation) => {
      const answer = await call(operation, byRole.get(role), await contentsOf(operation));
      const outcome = outcomeOf(answer);
      return outcome === '403 permission_denied' ? answer.json<Problem>().detail : outcome;
    });
    expect(seen).toEqual(
      each(guarded(), (operation) =>
        held.has(operation.access) ? (EXPECTED_TO_FAIL[operation.id] ?? 'ok') : denialOf(operation),
      ),
    );
  });

  it('a service account may do what its role says, but for what only people have', { timeout: 600_000 }, async () => {
    const token = await serviceToken(`matrix-${crypto.randomUUID()}`, 'editor');
    const held = new Set<string>(['user', ...ROLE_PERMISSIONS.editor]);
    const contentsOf = contentsForCaller((operation) => held.has(operation.access));
    const seen = await outcomes(endingsLast(guarded()), async (operation) =>
      outcomeOf(await call(operation, token, await contentsOf(operation))),
    );
    expect(seen).toEqual(
      each(guarded(), (operation) => {
        if (!held.has(operation.access)) return '403 permission_denied';
        return PEOPLE_ONLY[operation.id] ?? EXPECTED_TO_FAIL[operation.id] ?? 'ok';
      }),
    );
  });

  it('is checked before the request is looked at: nonsense gets no more than a denial', async () => {
    const viewer = new Set<string>(['user', ...ROLE_PERMISSIONS.viewer]);
    const denied = guarded().filter((operation) => !viewer.has(operation.access));
    expect(denied.length).toBeGreaterThan(5);
    const seen = await outcomes(denied, async (operation) => {
      const path = `${operation.path.replaceAll(/\{\w+\}/g, '~')}?limit=nonsense`;
      const body = operation.body ? { body: '{' } : {};
      return outcomeOf(await server.call(path, { ...operation, ...body, token: byRole.get('viewer') ?? '' }));
    });
    expect(seen).toEqual(each(denied, () => '403 permission_denied'));
  });
});

describe('the administrator of another tenant', () => {
  it('finds nothing under our ids, in path, query or body, and changes nothing of ours', async () => {
    const before = await rowsOf('victim');
    expect(JSON.stringify(before)).toContain(victim.marker);
    // First those on one object: later ones make objects of the same names, which then are the caller's own.
    const operations = guarded().toSorted((a, b) => Number(isOnOneObject(b)) - Number(isOnOneObject(a)));
    const seen = await outcomes(operations, async (operation) => {
      const answer = await call(operation, intruder, victim);
      if (answer.text.includes(victim.marker)) return 'shows what is ours';
      return isOnOneObject(operation) || isOfPlatform(operation) ? outcomeOf(answer) : 'shows nothing of ours';
    });
    expect(seen).toEqual(
      each(operations, (operation) => {
        if (isOfPlatform(operation)) return '403 permission_denied';
        return isOnOneObject(operation) ? '404 not_found' : 'shows nothing of ours';
      }),
    );
    expect(await rowsOf('victim')).toEqual(before);
  });

  it('would have seen the marker, if anything had been seen', async () => {
    const ours = await server.login(ADMIN_EMAIL, 'victim');
    const reading = guarded().filter((operation) => operation.method === 'GET');
    const seen = await outcomes(reading, async (operation) =>
      (await call(operation, ours, victim)).text.includes(victim.marker) ? 'seen' : '',
    );
    const shown = reading.filter((operation) => seen[nameOf(operation)] === 'seen').map((operation) => operation.id);
    const telling = [
      'get_users',
      'get_event_log',
      'get_connections',
      'get_connection',
      'get_variables',
      'get_variable',
      'get_log',
      'get_xcom',
      'get_task_state_store',
      'get_asset_state_store',
    ];
    expect(shown).toEqual(expect.arrayContaining(telling));
  });

  const wildcards = ['~', '*', '%25', '-', '_', '%2A', '..', '%2E%2E', 'null', '0', '%00'];
  it.each(wildcards.map((wildcard, number) => ({ wildcard, number })))(
    'finds nothing with $wildcard in place of an id',
    async ({ wildcard, number }) => {
      const reading = guarded().filter((operation) => operation.method === 'GET' && operation.path.includes('{'));
      const onOne = number === 0 ? reading : shareOf(reading, number);
      const seen = await outcomes(onOne, async ({ path }) => {
        const answer = await server.call(path.replaceAll(/\{\w+\}/g, wildcard), { token: intruder });
        if (answer.text.includes(victim.marker)) return 'shows what is ours';
        return answer.status < 500 ? 'shows nothing of ours' : outcomeOf(answer);
      });
      expect(seen).toEqual(each(onOne, () => 'shows nothing of ours'));
    },
  );
});

async function claims(): Promise<UserClaims> {
  const verified = await createTokenSigner(server.config.auth.jwt.secret).verifyUser(admin);
  if (typeof verified === 'string') throw new Error(verified);
  return verified;
}

const resigned = async (change: Partial<UserClaims>, secret = server.config.auth.jwt.secret): Promise<string> =>
  createTokenSigner(secret).signUser({ ...(await claims()), ...change });

async function endedSession(): Promise<string> {
  const token = await server.login();
  await server.call('/api/v2/auth/logout', { token });
  return token;
}

async function tokenAcrossTenants(): Promise<string> {
  const rows = await server.db.shared.selectFrom('tenants').select('id').where('name', '=', 'victim').execute();
  return resigned({ tenantId: rows[0]?.id ?? '' });
}

async function serviceToken(name: string, role = 'viewer'): Promise<string> {
  const body = { name, role };
  const answer = await server.call('/api/v2/serviceAccounts', { method: 'POST', token: admin, body });
  return answer.json<{ token: string }>().token;
}

async function revokedServiceToken(): Promise<string> {
  const token = await serviceToken('revoked');
  await server.call('/api/v2/serviceAccounts/revoked', { method: 'DELETE', token: admin });
  return token;
}

async function expiredServiceToken(): Promise<string> {
  const token = await serviceToken('expired');
  await server.db.shared
    .updateTable('service_accounts')
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .where('name', '=', 'expired')
    .execute();
  return token;
}

async function sessionOfDisabledTenant(): Promise<string> {
  await server.addUser({ email: ADMIN_EMAIL, roles: ['admin'], tenant: 'closed' });
  const token = await server.login(ADMIN_EMAIL, 'closed');
  const path = '/api/v2/platform/tenants/closed';
  await server.call(path, { method: 'PATCH', token: admin, body: { is_active: false } });
  return token;
}

async function agentToken(): Promise<string> {
  const { userId, email, tenantName, tenantId, roles, sessionId, authTime } = await claims();
  return new SignJWT({ email, tenant: tenantName, tenant_id: tenantId, roles, sid: sessionId, auth_time: authTime })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(userId)
    .setIssuer('svc')
    .setAudience('svc:agent')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(server.config.auth.jwt.secret));
}

/** Every row of the tenant in every table that has tenants, those of later migrations included. */
async function rowsOf(tenant: string): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'tenant_id' order by 1`.execute(server.db.shared);
  const rows: Record<string, unknown[]> = {};
  for (const { name } of tables.rows) {
    const result = await sql`
      select t.* from ${sql.table(name)} t join tenants on tenants.id = t.tenant_id
      where tenants.name = ${tenant} order by t::text`.execute(server.db.shared);
    rows[name] = result.rows;
  }
  return rows;
}
