/** Single sign-on with a provider that nobody here wrote, in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSvc } from '@svc/testing/cli/run-in-process.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { startKeycloak } from '@svc/testing/services/keycloak.ts';
import type { Keycloak } from '@svc/testing/services/keycloak.ts';
import { CLIENT, callbackUrl, startSsoServer } from '@svc/testing/services/sso-server.ts';
import type { SsoServer } from '@svc/testing/services/sso-server.ts';
import { launchBrowser } from '@svc/testing/web-ui/browser.ts';

let keycloak: Keycloak;
let server: SsoServer;
let browser: Browser;

const user = (name: string, groups: string[], emailVerified = true) => ({
  username: name,
  email: `${name}@example.com`,
  emailVerified,
  firstName: name,
  lastName: 'Example',
  enabled: true,
  credentials: [{ type: 'password', value: `password of ${name}`, temporary: false }],
  groups,
});

/** As docs/single-sign-on.md says to set it up. */
const realmFor = (port: number) => ({
  realm: 'team',
  enabled: true,
  sslRequired: 'external',
  groups: [{ name: 'svc-editors' }, { name: 'cooks' }],
  users: [user('ana', ['/svc-editors']), user('guest', ['/cooks']), user('unverified', ['/svc-editors'], false)],
  clients: [
    {
      clientId: CLIENT.clientId,
      secret: CLIENT.clientSecret,
      publicClient: false,
      standardFlowEnabled: true,
      directAccessGrantsEnabled: false,
      redirectUris: [callbackUrl(port)],
      attributes: {
        'post.logout.redirect.uris': `http://127.0.0.1:${port}/auth/login`,
        'oauth2.device.authorization.grant.enabled': 'true',
        'pkce.code.challenge.method': 'S256',
      },
      protocolMappers: [
        {
          name: 'groups',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-group-membership-mapper',
          config: { 'claim.name': 'groups', 'full.path': 'false', 'id.token.claim': 'true' },
        },
      ],
    },
  ],
});

beforeAll(async () => {
  const port = await freePort();
  keycloak = await startKeycloak({ realm: realmFor(port) });
  browser = await launchBrowser();
  server = await startSsoServer({ issuer: keycloak.issuer, port });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await keycloak?.stop();
});

async function newPage(): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(100_000); // its first page is made when it is asked for
  return context.newPage();
}

async function logInAtKeycloak(page: Page, name: string): Promise<void> {
  await page.waitForSelector('#username');
  await page.fill('#username', name);
  await page.fill('#password', `password of ${name}`);
  await page.click('#kc-login');
}

it('signs in, gets the role of the group, and signs out at both', async () => {
  const page = await newPage();
  await page.goto(`${server.url}/?from=bookmark`);
  await page.waitForURL('**/auth/login?next=*');
  await page.click('text=Single sign-on');
  await logInAtKeycloak(page, 'ana');
  await page.waitForURL(`${server.url}/?from=bookmark`);
  expect((await server.audit('post_user'))[0]?.owner).toBe('ana@example.com');
  await page.waitForSelector('.tile');
  await page.click('text=Sign out');
  await page.waitForURL(`${server.url}/auth/login*`); // with the ID token as a hint Keycloak asks nothing
  await page.click('text=Single sign-on');
  await page.waitForSelector('#username');
});

it.each([
  ['guest', 'None of your groups gives you a role here'],
  ['unverified', 'does not vouch for your e-mail address'],
])('refuses %s in words', async (name, words) => {
  const page = await newPage();
  await page.goto(`${server.url}/auth/login`);
  await page.click('text=Single sign-on');
  await logInAtKeycloak(page, name);
  await page.waitForURL('**/api/v2/auth/oidc/callback*');
  expect(await page.textContent('#detail')).toContain(words);
});

it('signs in a command line with a device code', async () => {
  const page = await newPage();
  const env = { XDG_CONFIG_HOME: '/nonexistent' };
  const command = startSvc(['auth', 'create-token', '--device', '--server', server.url], { env });
  const url = await eventually(() => {
    const found = /https:\/\/\S+user_code=\S+/.exec(command.stderr())?.[0];
    expect(found, command.stderr()).toBeDefined();
    return found ?? '';
  });
  await page.goto(url);
  await logInAtKeycloak(page, 'ana');
  await page.click('#kc-login'); // the grant
  const { code, stdout } = await command.ended;
  expect(code).toBe(0);
  expect((await server.call('/api/v2/version', { token: stdout.trim() })).status).toBe(200);
});

it('signs in a command line through the browser', async () => {
  const page = await newPage();
  const env = { XDG_CONFIG_HOME: '/nonexistent' };
  const command = startSvc(['auth', 'create-token', '--sso', '--no-browser', '--server', server.url], { env });
  const url = await eventually(() => {
    const found = /http:\/\/\S+oidc\/cli\?\S+/.exec(command.stderr())?.[0];
    expect(found, command.stderr()).toBeDefined();
    return found ?? '';
  });
  await page.goto(url);
  await logInAtKeycloak(page, 'ana');
  await page.click('text=Sign it in');
  await page.waitForSelector('text=You can close this page');
  const { stdout } = await command.ended;
  expect((await server.call('/api/v2/version', { token: stdout.trim() })).status).toBe(200);
});
