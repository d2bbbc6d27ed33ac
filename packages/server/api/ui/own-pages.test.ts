import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser, openPage } from '@svc/testing/web-ui/browser.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const PATHS_OF_DOCS = 10;

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([
    startTestServer({
      'auth.session-cookie-insecure': 'true',
      'ui.edition': 'lite',
      'ui.instance-name': 'Night <shift>',
    }),
    launchBrowser(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

it('our pages lead a visitor to the login and back to where they wanted to be, tell a wrong password, and sign out', async () => {
  const { page, problems } = await openPage(browser, [401]);
  await page.goto(`${server.url}/?from=bookmark`);
  await page.waitForURL('**/auth/login?next=*');
  expect(await page.textContent('h1')).toBe('Sign in to Night <shift>');
  await page.fill('#username', ADMIN_EMAIL);
  await page.fill('#password', 'not this one');
  await page.click('button[type=submit]');
  await page.waitForSelector('[role=alert]:not([hidden])');
  expect(await page.textContent('[role=alert]')).toBe('The e-mail address or the password is wrong.');
  await page.fill('#password', TEST_PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/?from=bookmark');
  await page.waitForSelector('.tile.healthy');
  expect(await page.textContent('.badge')).toBe('LITE');
  expect(await page.textContent('#components')).toContain('Database');
  await page.click('text=Sign out');
  await page.waitForURL('**/auth/login');
  expect(await page.context().cookies()).toEqual([]);
  expect(problems).toEqual([]);
});

it('the login page never sends anybody to another site afterwards', async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/auth/login?next=${encodeURIComponent('https://evil.example/')}`);
  await page.fill('#username', ADMIN_EMAIL);
  await page.fill('#password', TEST_PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${server.url}/`);
});

// To draw the document of the whole API is seconds of work for a browser: a part of it shows the same, at a tenth of the work.
it(
  'the page /docs shows the API reference without an error, under its content security policy',
  { timeout: 400_000 },
  async () => {
    const { page, problems } = await openPage(browser);
    await page.route('**/docs/json', async (route) => {
      const response = await route.fetch();
      const document = (await response.json()) as { paths: object };
      const paths = Object.fromEntries(Object.entries(document.paths).slice(0, PATHS_OF_DOCS));
      await route.fulfill({ response, json: { ...document, paths } });
    });
    const part = page.waitForResponse('**/docs/json');
    await page.goto(`${server.url}/docs`);
    expect(Object.keys(((await (await part).json()) as { paths: object }).paths)).toHaveLength(PATHS_OF_DOCS);
    await page.waitForSelector('.opblock-tag');
    expect(problems).toEqual([]);
  },
);
