/**
 * People of two tenants sign in at a provider while servers are killed, the database cuts its connections, the provider is
 * away or changes its keys, and a tenant is disabled: who got a session has it everywhere, nobody has more than they were
 * given, and nobody gets in who may not.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { IS_NIGHTLY } from '../nightly.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { createTestDatabase } from '../postgres/test-database.ts';
import { SEED } from '../seed.ts';
import { tokenOf } from '../server/api-caller.ts';
import { PROCESS_ADMIN, startServerProcess } from '../server/server-process.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { startForgingProvider } from '../services/forging-provider.ts';
import type { ForgingProvider } from '../services/forging-provider.ts';
import { freePort } from '../services/free-port.ts';
import { loopbackCertificate } from '../services/loopback-https.ts';
import { createSignInClient } from '../services/sign-in-client.ts';
import { CLIENT, callbackUrl } from '../services/sso-server.ts';
import { createRandom } from './random.ts';

/** By day each kind once. */
const FAULTS = Number(process.env['SVC_TEST_CHAOS_FAULTS'] ?? (IS_NIGHTLY ? 40 : 5));
const BROWSERS = 4;

type Person = { sub: string; email: string; tid: string; groups: string[]; role: string | undefined };
type SignIn = { person: Person; token: string };

const person = (sub: string, tid: string, group: string, role?: string): Person => ({
  sub,
  email: `${sub}@example.com`,
  tid,
  groups: [group],
  role,
});
const PEOPLE = [
  person('ana', 'acme', 'svc-admins', 'admin'),
  person('abe', 'acme', 'svc-editors', 'editor'),
  person('bob', 'beta', 'svc-admins', 'admin'),
  person('bea', 'beta', 'svc-viewers', 'viewer'),
  person('has-no-group', 'acme', 'others'),
  person('has-no-tenant', 'gamma', 'svc-admins'),
];

let folder: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let provider: ForgingProvider;
let ports: number[];
const servers: ServerProcess[] = [];

const address = (index: number): string => `http://127.0.0.1:${ports[index]}`;

async function boot(index: number): Promise<void> {
  const server = await startServerProcess({
    flags: [
      ...['svc-admins=admin', 'svc-editors=editor', 'svc-viewers=viewer'].map(
        (mapping) => `--auth.oidc.role-mappings=${mapping}`,
      ),
      ...['acme=acme', 'beta=beta'].map((mapping) => `--auth.oidc.tenant-claims=${mapping}`),
      `--auth.oidc.break-glass-emails=${PROCESS_ADMIN.email}`,
    ],
    env: { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
    settings: {
      'server.http_addr': `127.0.0.1:${ports[index]}`,
      'database.url': database.url,
      'auth.provider': 'oidc',
      'ui.edition': 'pro',
      'auth.oidc.issuer': provider.issuer,
      'auth.oidc.client_id': CLIENT.clientId,
      'auth.oidc.client_secret': CLIENT.clientSecret,
      'auth.oidc.redirect_url': callbackUrl(ports[0] ?? 0),
      'auth.oidc.tenant_claim': 'tid',
      'auth.oidc.jit_provisioning': 'true',
      'auth.login_rate_limit_per_minute': '10000',
    },
  });
  servers[index] = server;
  await server.untilReady();
}

const call = (server: number, path: string, token: string, init: RequestInit = {}) =>
  fetch(`${address(server)}/api/v2${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });

const platformAdmin = (): Promise<string> =>
  tokenOf(address(0), { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-sign-ins-'));
  await writeFile(join(folder, 'ca.pem'), loopbackCertificate().cert);
  [database, provider] = await Promise.all([createTestDatabase(), startForgingProvider(CLIENT)]);
  ports = [await freePort(), await freePort()];
  for (const { role: _role, ...claims } of PEOPLE) provider.knows({ ...claims, email_verified: true });
  await boot(0);
  const token = await platformAdmin();
  for (const name of ['acme', 'beta']) {
    const body = { name, admin_email: `first@${name}.example`, admin_password: 'correct horse battery' };
    const answer = await call(0, '/platform/tenants', token, { method: 'POST', body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(await answer.text());
  }
  await boot(1);
}, 400_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await provider?.stop();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

it('sessions are what was given, for whom it was given, and no more', { timeout: 300_000 }, async () => {
  const random = createRandom(SEED);
  const given: SignIn[] = [];
  let begun = 0;

  /** Begins at one server, ends at another; then the same answer of the provider is handed in again. */
  async function signIn(who: Person): Promise<void> {
    const [begins, ends, again] = [random.below(2), random.below(2), random.below(2)];
    const client = createSignInClient();
    const atProvider = await client.get(`${address(begins)}/api/v2/auth/oidc/login?next=/healthz`);
    if (atProvider.location === null) return;
    const back = await client.get(`${atProvider.location}&as=${who.sub}`);
    if (back.location === null) return;
    begun += 1;
    const cookies = [...client.cookiesOf(address(begins))].map(([name, value]) => `${name}=${value}`).join('; ');
    const path = back.location.slice(new URL(back.location).origin.length);
    let tokens = 0;
    for (const server of [ends, again]) {
      const answer = await createSignInClient()
        .get(`${address(server)}${path}`, { cookie: cookies })
        .catch(() => undefined);
      const token = answer?.headers
        .getSetCookie()
        .map((cookie) => /^_token=([^;]+)/.exec(cookie)?.[1])
        .find((value) => value !== undefined);
      if (token === undefined) continue;
      tokens += 1;
      given.push({ person: who, token });
    }
    expect(tokens).toBeLessThanOrEqual(1); // an answer of the provider counts once, whoever gets it first
  }

  const faults: Record<string, () => Promise<void>> = {
    async killed() {
      const index = random.below(2);
      await servers[index]?.stop('SIGKILL');
      await boot(index);
    },
    async cut() {
      await queryDatabase(
        database.url,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    },
    async 'provider away'() {
      await provider.stop();
      await sleep(random.below(800));
      await provider.start();
    },
    'keys changed': () => provider.rotateKey(),
    async 'tenant disabled'() {
      const token = await platformAdmin();
      const set = (isActive: boolean) =>
        call(0, '/platform/tenants/beta', token, { method: 'PATCH', body: JSON.stringify({ is_active: isActive }) });
      await eventually(async () => expect((await set(false)).status).toBe(200)); // a busy server says to ask again
      const ofBeta = given.findLast(({ person: { tid } }) => tid === 'beta');
      if (ofBeta) expect([401, 403]).toContain((await call(1, '/version', ofBeta.token)).status);
      await eventually(async () => expect((await set(true)).status).toBe(200));
    },
  };

  const over = new AbortController();
  const browsers = Array.from({ length: BROWSERS }, async () => {
    while (!over.signal.aborted) {
      await signIn(random.pick(PEOPLE)).catch((error: unknown) => {
        if (!(error instanceof TypeError)) throw error; // nobody answered: that is what the faults are for
      });
    }
  });
  const names = Object.keys(faults);
  for (let count = 0; count < FAULTS; count += 1) {
    await sleep(200 + random.below(400));
    await faults[names[count % names.length] ?? '']?.();
  }
  await eventually(() => given.length > 0); // the faults may be quicker than all browsers
  over.abort();
  await Promise.all(browsers);

  // With everything back, everybody who may gets in, and nobody else.
  const before = given.length;
  const may = PEOPLE.filter(({ role }) => role !== undefined);
  await eventually(async () => {
    for (const who of PEOPLE) await signIn(who);
    return may.every((who) => given.slice(before).some((each) => each.person === who));
  });

  expect(before).toBeGreaterThan(0);
  for (const { person: who, token } of given) {
    expect(decodeJwt(token)).toMatchObject({ email: who.email, tenant: who.tid, roles: [who.role] });
    const answers = await Promise.all([0, 1].map((server) => call(server, '/version', token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  }

  // Nobody twice, nobody elsewhere, nobody refused; a session and its audit entry come together.
  const identities = await queryDatabase<{ subject: string; tenant: string; sessions: number; logins: number }>(
    database.url,
    `select i.subject, t.name as tenant,
            (select count(*)::int from sessions s where s.tenant_id = i.tenant_id and s.user_id = i.user_id) as sessions,
            (select count(*)::int from audit_log a where a.tenant_id = i.tenant_id and a.event = 'login'
               and a.object_id = i.user_id::text) as logins
     from user_identities i join tenants t on t.id = i.tenant_id
     order by i.subject`,
  );
  expect(identities.map(({ subject, tenant }) => [subject, tenant])).toEqual(
    may.map(({ sub, tid }) => [sub, tid]).toSorted(),
  );
  for (const { subject, sessions, logins } of identities) {
    expect(logins).toBe(sessions);
    expect(sessions).toBeGreaterThanOrEqual(given.filter(({ person: who }) => who.sub === subject).length);
  }
  expect(identities.reduce((sum, { sessions }) => sum + sessions, 0)).toBeLessThanOrEqual(begun);

  const administrator = given.find(({ person: who }) => who.sub === 'bob');
  const answer = await call(0, '/users?limit=1000', administrator?.token ?? '');
  const { users } = (await answer.json()) as { users: { email: string }[] };
  expect(users.map(({ email }) => email).toSorted()).toEqual([
    'bea@example.com',
    'bob@example.com',
    'first@beta.example',
  ]);
});
