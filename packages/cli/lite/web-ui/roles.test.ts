/** Each role in the web UI, in a real browser on a real lite instance: what it is offered, what it is refused, and that a refusal changes nothing. */
import type { Browser, Page } from 'playwright-core';
import { eventually } from '@svc/testing/eventually.ts';
import { launchBrowser } from '@svc/testing/web-ui/browser.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EVENTUALLY, runToEnd, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { openWatchedPage } from '@svc/testing/web-ui/watched-page.ts';
import type { WatchedPage } from '@svc/testing/web-ui/watched-page.ts';

type Role = 'viewer' | 'operator' | 'editor' | 'admin';

const PASSWORD = 'all of us the same';
/** In the words of the UI, or in ours where it repeats them. */
const REFUSAL = /Access Denied|missing permission/;
const TIMEOUT_MS = 400_000;
const READER = {
  Browse: ['Jobs', 'XComs', 'Required Actions'],
  Admin: ['Variables', 'Pools', 'Connections'],
};
/** The menus in the order in which the UI shows them. */
const MENUS: Record<Role, Record<string, string[]>> = {
  viewer: READER,
  operator: READER,
  editor: READER,
  admin: {
    Browse: ['Audit Log', 'Jobs', 'XComs', 'Required Actions'],
    Admin: ['Variables', 'Pools', 'Providers', 'Plugins', 'Connections', 'Config'],
  },
};

/** Pages for every role, each with a call it makes. */
const READ = [
  ['/assets', '/api/v2/assets?'],
  ['/jobs', '/api/v2/jobs'],
  ['/xcoms', '/xcomEntries'],
  ['/required_actions', '/hitlDetails'],
  ['/pools', '/api/v2/pools?'],
  ['/connections', '/api/v2/connections?'],
] as const;

let lite: LiteInstance;
let browser: Browser;
let runId: string;
let tab: WatchedPage;
let page: Page;

beforeAll(async () => {
  lite = await startLite({ examples: ['hello'] });
  for (const role of Object.keys(MENUS)) {
    await lite.api('POST', '/users', { email: emailOf(role), password: PASSWORD, roles: [role] });
  }
  runId = await runToEnd(lite.api, 'hello');
  await lite.api('POST', '/variables', { key: 'there', value: 'before' });
  browser = await launchBrowser();
  tab = await openWatchedPage(browser, lite.url);
  ({ page } = tab);
}, TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await lite?.stop();
}, TIMEOUT_MS);

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await tab.look(`failed ${task.name.slice(0, 60)}`);
  tab.expectNoProblems();
});

const emailOf = (role: string): string => `${role}@example.com`;
const press = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).first().click();
const variables = async (): Promise<string[]> =>
  (await lite.api<{ variables: { key: string }[] }>('GET', '/variables')).variables.map(({ key }) => key);
const isPaused = async (): Promise<boolean> => (await lite.api<{ is_paused: boolean }>('GET', '/dags/hello')).is_paused;
const runs = async (): Promise<number> =>
  (await lite.api<{ total_entries: number }>('GET', '/dags/hello/dagRuns')).total_entries;

async function addVariable(key: string): Promise<void> {
  await press('Add Variable');
  await tab.dialog().getByLabel('Key').fill(key);
  await tab.dialog().getByLabel('Value').fill('new');
  await tab.dialog().getByRole('button', { name: 'Save' }).click();
}

async function trigger(): Promise<void> {
  await tab.go('/pools', 'default_pool'); // from where nothing of the DAG's page is: what is waited for is its own
  await tab.go('/dags/hello', 'greet');
  await press('Trigger');
  await tab.dialog().getByRole('button', { name: 'Trigger' }).click();
}

/** Signed in once: to load the UI is most of what these tests cost. */
describe.each(Object.keys(MENUS) as Role[])('%s', (role) => {
  beforeAll(() => tab.signIn({ username: emailOf(role), password: PASSWORD }), TIMEOUT_MS);
  afterAll(() => tab.signOut(), TIMEOUT_MS);

  it(
    'is offered exactly what it may open',
    async () => {
      await tab.go('/dags', 'hello');
      for (const [menu, entries] of Object.entries(MENUS[role])) {
        await press(menu);
        await tab.menu().getByRole('menuitem').first().waitFor();
        expect(await tab.menu().getByRole('menuitem').allTextContents()).toEqual(entries);
        await tab.look(`menu-${menu}-of-${role}`);
        await page.keyboard.press('Escape');
        await tab.menu().waitFor({ state: 'detached' });
      }
      const editor = page.getByRole('link', { name: 'Edit DAGs' });
      await expect.poll(() => editor.count(), EVENTUALLY).toBe(role === 'viewer' ? 0 : 1);
    },
    TIMEOUT_MS,
  );

  // An operator and an editor have every permission of a viewer, and the UI asks for nothing else for them.
  if (role === 'viewer' || role === 'admin') readsEverything(role);
  if (role === 'viewer') aViewerIsRefused();
  if (role === 'operator') {
    anOperatorMayTrigger();
    aSessionEnds();
  }
  if (role === 'editor') anEditorMayDoBoth();
});

function readsEverything(role: Role): void {
  it(
    'reads all of that without a refusal',
    async () => {
      await tab.go('/', 'Active Dags');
      await tab.look(`home-of-${role}`);
      for (const [path, call] of READ) await tab.goAndAsk(path, call);
      await tab.go(`/dags/hello/runs/${runId}/tasks/shout`, 'HELLO, WORLD!');
      if (role === 'admin') await tab.go('/events', 'trigger_dag_run');
    },
    TIMEOUT_MS,
  );
}

function aViewerIsRefused(): void {
  it.each(['/configs', '/events', '/providers', '/dags/hello/events'])(
    'is told that %s is not for everyone, and the way on is open',
    async (path) => {
      const refusal = page.getByText(/403|Forbidden|permission/);
      await tab.expectingStatuses([403], async () => {
        // The first is opened by its address, the others from within the UI.
        if (path === '/configs') await tab.visit(path);
        else {
          await eventually(async () => (await refusal.count()) === 0);
          await tab.go(path);
        }
        await refusal.first().waitFor();
        await tab.look(`refused${path.replaceAll('/', '-')}`);
      });
      await page.locator('#root a[href="/dags"]').first().click();
      await page.getByText('start here').first().waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'is refused to trigger, to pause, to clear and to add a variable, and nothing has changed',
    async () => {
      const before = await runs();
      await tab.expectingStatuses([403], async () => {
        await expect.poll(() => page.getByText(REFUSAL).count(), EVENTUALLY).toBe(0);
        await trigger();
        await page.getByText(REFUSAL).first().waitFor();
        await tab.look('refused-trigger');
        // Each time anew: what was refused before is still told on the page.
        await tab.visit('/dags/hello', 'greet');
        await page.locator('[data-scope="switch"][data-part="control"]').first().click();
        await page.getByText(REFUSAL).first().waitFor();
        await tab.look('refused-pause');
        await tab.visit(`/dags/hello/runs/${runId}/tasks/shout`, 'HELLO, WORLD!');
        await press('Clear Task Instance');
        await tab.dialog().waitFor();
        await tab.look('refused-clear');
        expect(await tab.dialog().getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
        await tab.visit('/variables', 'there');
        await addVariable('by-viewer');
        await page.getByText(REFUSAL).first().waitFor();
        await tab.look('refused-variable');
      });
      expect([await runs(), await isPaused(), await variables()]).toEqual([before, false, ['there']]);
    },
    TIMEOUT_MS,
  );
}

function anOperatorMayTrigger(): void {
  it(
    'may trigger but not add a variable',
    async () => {
      await trigger();
      await page.waitForURL('**/dags/hello/runs/*');
      await tab.go('/variables', 'there');
      expect(await page.getByText(REFUSAL).count()).toBe(0);
      await tab.expectingStatuses([403], async () => {
        await addVariable('by-operator');
        await page.getByText(REFUSAL).first().waitFor();
      });
      expect(await variables()).toEqual(['there']);
    },
    TIMEOUT_MS,
  );
}

function anEditorMayDoBoth(): void {
  it(
    'may trigger, and add a variable',
    async () => {
      await trigger();
      await page.waitForURL('**/dags/hello/runs/*');
      await tab.go('/variables', 'there');
      await addVariable('by-editor');
      await page.getByRole('row').filter({ hasText: 'by-editor' }).waitFor();
      expect(await variables()).toEqual(['by-editor', 'there']);
    },
    TIMEOUT_MS,
  );
}

function aSessionEnds(): void {
  it(
    'whose session has ended gets to the login page, and from there back to where it was',
    async () => {
      const path = `/dags/hello/runs/${runId}/tasks/shout/xcom`;
      await tab.visit(path, 'return_value'); // anew: a log that was read before would be shown without asking for it
      const { users } = await lite.api<{ users: { id: string; email: string }[] }>('GET', '/users');
      const id = users.find(({ email }) => email === emailOf('operator'))?.id ?? '';
      await tab.expectingStatuses([401], async () => {
        await lite.api('PATCH', `/users/${id}`, { password: 'another one from now on' });
        await page.getByRole('link', { name: 'Logs' }).click();
        await page.waitForURL('**/auth/login?next=*');
        await tab.look('login-again');
        await page.fill('input[name=username]', emailOf('operator'));
        await page.fill('input[name=password]', 'another one from now on');
        await page.click('button[type=submit]');
        await page.getByText('HELLO, WORLD!').first().waitFor();
      });
      expect(decodeURIComponent(new URL(page.url()).pathname)).toBe(`/dags/hello/runs/${runId}/tasks/shout`);
    },
    TIMEOUT_MS,
  );
}
