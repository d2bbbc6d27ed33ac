/** `svc auth login --sso` with a real control plane: the browser is played here, and so is whoever would like to be it. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSvc } from '@svc/testing/cli/run-in-process.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startForgingProvider } from '@svc/testing/services/forging-provider.ts';
import type { ForgingProvider } from '@svc/testing/services/forging-provider.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { createSignInClient } from '@svc/testing/services/sign-in-client.ts';
import { CLIENT, startSsoServer } from '@svc/testing/services/sso-server.ts';
import type { SsoServer } from '@svc/testing/services/sso-server.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';

let provider: ForgingProvider;
let server: SsoServer;
let home: string;

beforeAll(async () => {
  provider = await startForgingProvider(CLIENT);
  server = await startSsoServer({ issuer: provider.issuer });
  home = mkdtempSync(join(tmpdir(), 'svc-sso-'));
});
afterAll(async () => {
  await server?.close();
  await provider?.stop();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(async () => {
  const person = { email: 'ana@example.com', email_verified: true, groups: ['svc-editors'] };
  provider.signsIn({ sub: 'ana', ...person });
  await server.db.shared.deleteFrom('login_failures').execute();
});

const svc = (...argv: string[]) =>
  startSvc([...argv, '--server', server.url], { env: { XDG_CONFIG_HOME: home, PATH: '/nonexistent' } });
const post = (path: string, body: object) => server.call(`/api/v2/auth/oidc/${path}`, { method: 'POST', body });

/** The page that asks the person, as the browser sees it. */
async function openApproval(url: string): Promise<{ word: string; ticket: string; text: string }> {
  const { text, status } = await createSignInClient().follow(url);
  expect(status).toBe(200);
  return {
    text,
    word: /id="check-word">([^<]+)</.exec(text)?.[1] ?? '',
    ticket: /data-ticket="([^"]+)"/.exec(text)?.[1] ?? '',
  };
}

const pageOf = (stderr: string): string => /http:\/\/\S+\/api\/v2\/auth\/oidc\/cli\?\S+/.exec(stderr)?.[0] ?? '';

describe('with the browser of this computer', () => {
  it('asks the person, who sees the same word in both places, and is logged in without a token in any URL', async () => {
    const command = svc('auth', 'login', '--sso', '--no-browser');
    const url = await eventually(() => {
      expect(pageOf(command.stderr())).not.toBe('');
      return pageOf(command.stderr());
    });
    const { word, ticket, text } = await openApproval(url);
    expect(text).toContain('ana@example.com');
    expect(command.stderr()).toContain(`the word ${word} `);
    const { location } = (await post('cli/approve', { ticket })).json<{ location: string }>();
    const back = new URL(location);
    expect(back.hostname).toBe('127.0.0.1');
    // What is not the browser that was sent gets nothing, and does not end the waiting.
    const stranger = new URL(location);
    stranger.searchParams.set('state', 'of-somebody-else');
    expect((await fetch(stranger)).status).toBe(404);
    expect((await fetch(location, { method: 'POST' })).status).toBe(404);
    expect((await fetch(location)).status).toBe(200);
    const { code, stdout } = await command.ended;
    expect(stdout).toBe(`Logged in to ${server.url} as ana@example.com (editor).\n`);
    expect(code).toBe(0);
    const { stdout: who } = await svc('auth', 'whoami', '--json').ended;
    expect(JSON.parse(who)).toMatchObject({ email: 'ana@example.com', roles: ['editor'] });
    expect((await server.audit('login'))[0]).toMatchObject({ owner: 'ana@example.com', extra: { via: 'cli' } });
  });

  it('a code is worth nothing without the verifier, twice, or later; nor is an approval', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const start = `${server.url}/api/v2/auth/oidc/cli?port=40000&challenge=${challenge}&state=${'s'.repeat(20)}`;
    const { ticket } = await openApproval(start);
    const { location } = (await post('cli/approve', { ticket })).json<{ location: string }>();
    expect((await post('cli/approve', { ticket })).status).toBe(400);
    const code = new URL(location).searchParams.get('code') ?? '';
    const wrong = await post('cli/token', { code, verifier: randomBytes(32).toString('base64url') });
    expect(wrong.status).toBe(400);
    expect((await post('cli/token', { code: ticket, verifier })).status).toBe(400);
    expect((await post('cli/token', { code, verifier })).status).toBe(200);
    expect((await post('cli/token', { code, verifier })).status).toBe(400);
  });

  it('a user who was deactivated in between gets no token', async () => {
    const person = { email: 'late@example.com', email_verified: true, groups: ['svc-viewers'] };
    provider.signsIn({ sub: 'late', ...person });
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const start = `${server.url}/api/v2/auth/oidc/cli?port=40000&challenge=${challenge}&state=${'s'.repeat(20)}`;
    const { ticket } = await openApproval(start);
    const { location } = (await post('cli/approve', { ticket })).json<{ location: string }>();
    await server.db.shared.updateTable('users').set({ is_active: false }).where('email', '=', person.email).execute();
    const code = new URL(location).searchParams.get('code') ?? '';
    expect((await post('cli/token', { code, verifier })).status).toBe(403);
  });

  it('a sign-in for a command line leaves no session in the browser', async () => {
    const client = createSignInClient();
    const query = `port=40000&challenge=${'c'.repeat(43)}&state=${'s'.repeat(20)}`;
    await client.follow(`${server.url}/api/v2/auth/oidc/cli?${query}`);
    expect(client.cookiesOf(server.url).size).toBe(0);
  });

  it.each([
    `port=80&challenge=${'c'.repeat(43)}&state=${'s'.repeat(20)}`,
    `port=70000&challenge=${'c'.repeat(43)}&state=${'s'.repeat(20)}`,
    `port=4000@evil.example&challenge=${'c'.repeat(43)}&state=${'s'.repeat(20)}`,
    `port=40000&challenge=short&state=${'s'.repeat(20)}`,
    `port=40000&challenge=${'c'.repeat(43)}&state=%0d%0a`,
    'port=40000',
  ])('leads nowhere but to a program on this computer: %s', async (query) => {
    expect((await server.call(`/api/v2/auth/oidc/cli?${query}`)).status).toBe(400);
  });

  it('where the provider is away says so at once, and where there is none, too', async () => {
    const plain = await startTestServer();
    try {
      const { code, stderr } = await startSvc(['auth', 'login', '--sso', '--server', plain.url], { env: {} }).ended;
      expect([code, stderr]).toEqual([3, expect.stringContaining('single sign-on is off here')]);
    } finally {
      await plain.close();
    }
  });

  it('takes no password beside it', async () => {
    const { code, stderr } = await svc('auth', 'login', '--sso', '--username', 'ana@example.com').ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining('the identity provider says who you are')]);
  });
});

describe('with a device code', () => {
  it('waits until the person has typed it elsewhere', async () => {
    const command = svc('auth', 'login', '--device');
    await eventually(() => expect(command.stderr()).toContain('type the code WDJB-MJHT'));
    expect(command.stderr()).toContain(`${provider.issuer}/activate`);
    const polls = () => provider.requests.filter((request) => request.endsWith('/token')).length;
    const before = polls();
    await eventually(() => expect(polls()).toBeGreaterThan(before));
    provider.decideDevices('approved');
    const { code, stdout } = await command.ended;
    expect([code, stdout]).toEqual([0, `Logged in to ${server.url} as ana@example.com (editor).\n`]);
  });

  it('sends the client in the body where the provider takes it there, for dex reads it nowhere else', async () => {
    provider.forges({
      metadata: { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] },
      readsDeviceClientFromBody: true,
    });
    const other = await startSsoServer({
      issuer: provider.issuer,
      flags: { 'database.url': server.config.database.url },
    });
    try {
      const command = startSvc(['auth', 'create-token', '--device', '--server', other.url], { env: {} });
      await eventually(() => expect(command.stderr()).toContain('type the code'));
      provider.decideDevices('approved');
      const { code, stderr } = await command.ended;
      expect(code, stderr).toBe(0);
    } finally {
      await other.close();
    }
  });

  it('denied by the person ends with the reason', async () => {
    const command = svc('auth', 'login', '--device');
    await eventually(() => expect(command.stderr()).toContain('type the code'));
    provider.decideDevices('denied');
    const { code, stderr } = await command.ended;
    expect([code, stderr]).toEqual([3, expect.stringContaining('did not let you in')]);
  });

  it('a token that is not for us is refused here as in the browser', async () => {
    const { handle } = (await post('device', {})).json<{ handle: string }>();
    provider.decideDevices('approved');
    provider.forges({ claims: { aud: 'another-client' } });
    expect((await post('device/token', { handle })).status).toBe(403);
    expect((await post('device/token', { handle: 'made-up' })).status).toBe(400);
  });

  it('is refused where the provider has none', async () => {
    provider.forges({ metadata: { device_authorization_endpoint: undefined } });
    const other = await startSsoServer({ issuer: provider.issuer });
    try {
      const answer = await other.call('/api/v2/auth/oidc/device', { method: 'POST' });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('has no device codes')]);
    } finally {
      await other.close();
    }
  });

  it('may be begun a few times a minute from one address', async () => {
    const statuses: number[] = [];
    for (let begun = 0; begun < 12; begun += 1) statuses.push((await post('device', {})).status);
    expect(statuses.slice(-2)).toEqual([429, 429]);
    expect(statuses[0]).toBe(200);
  });
});

it('svc users release lets another account have the user', async () => {
  await server.signIn();
  const admin = await server.login();
  const env = { XDG_CONFIG_HOME: home, SVC_TOKEN: admin };
  const release = await startSvc(['users', 'release', 'ana@example.com', '--server', server.url], { env }).ended;
  expect([release.code, release.stderr]).toEqual([0, '']);
  provider.signsIn({ sub: 'ana-2', email: 'ana@example.com', email_verified: true, groups: ['svc-viewers'] });
  expect((await server.signIn()).status).toBe(302);
});

it('svc config --check says whether the provider answers, and that the control plane starts without it', async () => {
  const env = {
    SVC_AUTH_JWT_SECRET: 'j'.repeat(32),
    SVC_UI_EDITION: 'pro',
    SVC_AUTH_PROVIDER: 'oidc',
    SVC_AUTH_OIDC_ISSUER: provider.issuer,
    SVC_AUTH_OIDC_CLIENT_ID: CLIENT.clientId,
    SVC_AUTH_OIDC_REDIRECT_URL: 'https://flows.example.com/api/v2/auth/oidc/callback',
    SVC_AUTH_OIDC_DEFAULT_ROLE: 'viewer',
  };
  const good = await startSvc(['config', '--check'], { env }).ended;
  expect([good.code, good.stderr]).toEqual([
    0,
    expect.stringContaining('answers; logout there: yes; device codes: yes'),
  ]);
  const issuer = `https://127.0.0.1:${await freePort()}/realm`;
  const away = await startSvc(['config', '--check'], { env: { ...env, SVC_AUTH_OIDC_ISSUER: issuer } }).ended;
  expect([away.code, away.stderr]).toEqual([0, expect.stringMatching(/could not be asked from here .*ECONNREFUSED/)]);
});
