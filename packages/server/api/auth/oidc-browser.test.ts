/** Single sign-on in a real browser, with a real identity provider: sign in, be refused, sign out at both. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSvc } from '@svc/testing/cli/run-in-process.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { startOidcProvider } from '@svc/testing/services/oidc-provider.ts';
import type { OidcProvider } from '@svc/testing/services/oidc-provider.ts';
import { CLIENT, callbackUrl, startSsoServer } from '@svc/testing/services/sso-server.ts';
import type { SsoServer } from '@svc/testing/services/sso-server.ts';
import { ADMIN_EMAIL, TEST_PASSWORD } from '@svc/testing/server/test-server.ts';
import { launchBrowser, newPage } from '@svc/testing/web-ui/browser.ts';

const ACCOUNTS = {
  ana: { email: 'ana@example.com', groups: ['svc-editors'] },
  guest: { email: 'guest@example.com', groups: ['visitors'] },
};

let provider: OidcProvider;
let server: SsoServer;
let browser: Browser;

beforeAll(async () => {
  const port = await freePort();
  const redirectUrl = callbackUrl(port);
  const afterLogout = `http://127.0.0.1:${port}/auth/login`;
  [provider, browser] = await Promise.all([
    startOidcProvider({ ...CLIENT, redirectUrl, afterLogout, accounts: ACCOUNTS }),
    launchBrowser(),
  ]);
  const scopes = ['openid', 'email', 'profile', 'groups'];
  server = await startSsoServer({ issuer: provider.issuer, port, flags: { 'auth.oidc.scopes': scopes } });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await provider?.stop();
});

const openTab = (): Promise<Page> => newPage(browser, { ignoreHTTPSErrors: true });

/** The provider's own pages: who, and whether. */
async function logInAtProvider(page: Page, name: string): Promise<void> {
  await page.waitForURL(`${provider.issuer}/**`);
  await page.fill('input[name=login]', name);
  await page.fill('input[name=password]', 'anything');
  await page.click('button[type=submit]');
  await page.waitForSelector('text=/consent|Authorize|Continue/i');
  await page.click('button[type=submit]');
}

it('one button leads to the provider and back to where the visitor wanted to be, and signing out ends both sessions', async () => {
  const page = await openTab();
  await page.goto(`${server.url}/?from=bookmark`);
  await page.waitForURL('**/auth/login?next=*');
  expect(await page.isVisible('#password')).toBe(false);
  await page.click('text=Single sign-on');
  await logInAtProvider(page, 'ana');
  await page.waitForURL(`${server.url}/?from=bookmark`);
  await page.waitForSelector('.tile');
  const cookies = await page.context().cookies(server.url);
  expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: '_token', httpOnly: true, sameSite: 'Lax' },
  ]);
  // The provider remembers: the next sign-in asks nothing.
  await page.goto(`${server.url}/api/v2/auth/oidc/login?next=/?from=elsewhere`);
  await page.waitForURL(`${server.url}/?from=elsewhere`);
  await page.click('text=Sign out');
  await page.waitForURL(`${provider.issuer}/session/end*`);
  await page.click('button[value=yes]');
  await page.waitForURL(`${server.url}/auth/login*`);
  expect(await page.context().cookies(server.url)).toEqual([]);
  await page.click('text=Single sign-on');
  await page.waitForSelector('input[name=login]'); // it asks again
});

it('who has no role reads why, with a number to ask about', async () => {
  const page = await openTab();
  await page.goto(`${server.url}/auth/login`);
  await page.click('text=Single sign-on');
  await logInAtProvider(page, 'guest');
  await page.waitForURL('**/api/v2/auth/oidc/callback*');
  expect(await page.textContent('h1')).toBe('Sign-in refused');
  expect(await page.textContent('#detail')).toBe(
    'None of your groups gives you a role here: ask an administrator for access.',
  );
  const requestId = await page.textContent('#request-id');
  const [entry] = await server.audit('login_refused');
  expect(entry?.extra).toMatchObject({ request_id: requestId, reason: 'no_role' });
  await page.click('text=Back to the sign-in page');
  await page.waitForURL('**/auth/login');
});

it('the emergency access is folded away, works, and tells others what to do', async () => {
  const page = await openTab();
  await page.goto(`${server.url}/auth/login`);
  await page.click('text=Emergency access');
  await page.fill('#username', 'ana@example.com');
  await page.fill('#password', 'anything at all');
  await page.click('#sign-in');
  await page.waitForSelector('[role=alert]:not([hidden])');
  expect(await page.textContent('[role=alert]')).toContain('use single sign-on');
  await page.fill('#username', ADMIN_EMAIL);
  await page.fill('#password', TEST_PASSWORD);
  await page.click('#sign-in');
  await page.waitForURL(`${server.url}/`);
});

it('a command line is signed in by the person who agrees', async () => {
  const page = await openTab();
  const env = { XDG_CONFIG_HOME: '/nonexistent' };
  const command = startSvc(['auth', 'create-token', '--sso', '--no-browser', '--server', server.url], { env });
  const url = await eventually(() => {
    const found = /http:\/\/\S+oidc\/cli\?\S+/.exec(command.stderr())?.[0];
    expect(found, command.stderr()).toBeDefined();
    return found ?? '';
  });
  await page.goto(url);
  await logInAtProvider(page, 'ana');
  await page.waitForSelector('#check-word');
  expect(command.stderr()).toContain(`the word ${await page.textContent('#check-word')} `);
  await page.click('text=Sign it in');
  await page.waitForSelector('text=You can close this page');
  const { stdout } = await command.ended;
  expect((await server.call('/api/v2/version', { token: stdout.trim() })).status).toBe(200);
});

it('a device code of the provider signs in a command line', async () => {
  const page = await openTab();
  const env = { XDG_CONFIG_HOME: '/nonexistent' };
  const command = startSvc(['auth', 'create-token', '--device', '--server', server.url], { env });
  const url = await eventually(() => {
    const found = /https:\/\/\S+user_code=\S+/.exec(command.stderr())?.[0];
    expect(found, command.stderr()).toBeDefined();
    return found ?? '';
  });
  await page.goto(url);
  await page.click('button[type=submit]');
  await logInAtProvider(page, 'ana');
  const { code, stdout } = await command.ended;
  expect(code).toBe(0);
  expect((await server.call('/api/v2/version', { token: stdout.trim() })).status).toBe(200);
});

it('without anybody for emergencies there is no form at all', async () => {
  const flags = { 'auth.oidc.break-glass-emails': [] as string[] };
  const closed = await startSsoServer({ issuer: provider.issuer, flags });
  try {
    const { text } = await closed.call('/auth/login');
    expect(text).toContain('Single sign-on');
    expect(text).not.toContain('password');
  } finally {
    await closed.close();
  }
});
