/**
 * Single sign-on in a browser with a provider that keeps to the standard: what a scope asks for is in the user info, not
 * in the ID token. One server makes no users, the other one finds the tenant in a claim.
 */
import type { Browser, Page } from 'playwright-core';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '@svc/testing/services/free-port.ts';
import { startOidcProvider } from '@svc/testing/services/oidc-provider.ts';
import type { OidcProvider } from '@svc/testing/services/oidc-provider.ts';
import { CLIENT, callbackUrl, startSsoServer } from '@svc/testing/services/sso-server.ts';
import type { SsoServer } from '@svc/testing/services/sso-server.ts';
import { launchBrowser } from '@svc/testing/web-ui/browser.ts';

const ACCOUNTS = {
  listed: { email: 'listed@example.com', groups: ['svc-editors'] },
  unlisted: { email: 'unlisted@example.com', groups: ['svc-editors'] },
  acme: { email: 'acme@example.com', groups: ['svc-viewers'], tid: 't-acme' },
  stranger: { email: 'stranger@example.com', groups: ['svc-viewers'], tid: 't-other' },
};

let provider: OidcProvider;
let listing: SsoServer;
let tenants: SsoServer;
let browser: Browser;

beforeAll(async () => {
  const ports = [await freePort(), await freePort()];
  [provider, browser] = await Promise.all([
    startOidcProvider({
      ...CLIENT,
      redirectUrl: ports.map(callbackUrl),
      afterLogout: `http://127.0.0.1:${ports[0]}/auth/login`,
      accounts: ACCOUNTS,
      claimsInUserInfo: true,
    }),
    launchBrowser(),
  ]);
  const { issuer } = provider;
  const scopes = ['openid', 'email', 'groups', 'tenant'];
  listing = await startSsoServer({
    issuer,
    port: ports[0] ?? 0,
    flags: { 'auth.oidc.scopes': scopes, 'auth.oidc.jit-provisioning': 'false' },
  });
  tenants = await startSsoServer({
    issuer,
    port: ports[1] ?? 0,
    flags: {
      'auth.oidc.scopes': scopes,
      'auth.oidc.tenant-claim': 'tid',
      'auth.oidc.tenant-claims': ['t-acme=acme'],
      'database.url': listing.config.database.url,
    },
  });
});
afterAll(async () => {
  await browser?.close();
  await tenants?.close();
  await listing?.close();
  await provider?.stop();
});

/** A sign-in in a new browser, up to the page at which it ends. */
async function signIn(server: SsoServer, name: keyof typeof ACCOUNTS): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(100_000); // a busy machine takes its time
  const page = await context.newPage();
  await page.goto(`${server.url}/auth/login?next=/docs`);
  await page.click('text=Single sign-on');
  await page.waitForURL(`${provider.issuer}/**`);
  await page.fill('input[name=login]', name);
  await page.fill('input[name=password]', 'anything');
  await page.click('button[type=submit]');
  await page.waitForSelector('text=/consent|Authorize|Continue/i');
  await page.click('button[type=submit]');
  await page.waitForURL((url) => url.href.startsWith(server.url));
  return page;
}

async function claimsOf(page: Page): Promise<Record<string, unknown>> {
  const cookie = (await page.context().cookies()).find(({ name }) => name === '_token');
  return decodeJwt(cookie?.value ?? '');
}

it('without automatic users, only a listed person gets in, with the role of the groups in the user info', async () => {
  await listing.addUser({ email: 'listed@example.com', roles: ['viewer'] });
  const page = await signIn(listing, 'listed');
  expect(page.url()).toBe(`${listing.url}/docs`);
  expect(await claimsOf(page)).toMatchObject({ email: 'listed@example.com', roles: ['editor'], tenant: 'default' });
  const refused = await signIn(listing, 'unlisted');
  expect(await refused.textContent('h1')).toBe('Sign-in refused');
  expect((await listing.audit('login_refused')).map(({ extra }) => extra['reason'])).toEqual(['user_unknown']);
});

it('a person gets into the tenant that the user info names, and nobody gets in without a mapped one', async () => {
  await tenants.addUser({ email: 'first@example.com', roles: ['viewer'], tenant: 'acme' });
  const page = await signIn(tenants, 'acme');
  expect(await claimsOf(page)).toMatchObject({ email: 'acme@example.com', roles: ['viewer'], tenant: 'acme' });
  const refused = await signIn(tenants, 'stranger');
  expect(await refused.textContent('h1')).toBe('Sign-in refused');
  expect(await refused.context().cookies(tenants.url)).toEqual([]);
});
