/** Tests of each role in the web UI, in a browser: what it is offered, what it is refused, and that a refusal changes nothing. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { IS_NIGHTLY } from '../nightly.ts';
import { EVENTUALLY } from './lite-instance.ts';
import type { LiteInstance } from './lite-instance.ts';
import type { OpenUi } from './open-ui.ts';
import { CLEAR, UI_VERSION } from './ui-version.ts';
import type { WatchedPage } from './watched-page.ts';

type Role = 'viewer' | 'operator' | 'editor' | 'admin';

const PASSWORD = 'all of us the same';
/** In the words of the UI, or in ours where it repeats them. */
const REFUSAL = /Access Denied|missing permission/;
const TIMEOUT_MS = 400_000;
/** Views of plugins, which the list of menu entries does not have. */
const OWN_PAGES = ['Alerts', 'Fleet'];
const DEADLINES = UI_VERSION === '3.2.2' ? [] : ['Deadlines'];
const READER = {
  Browse: [...DEADLINES, 'Jobs', 'XComs', 'Required Actions', ...OWN_PAGES],
  Admin: ['Variables', 'Pools', 'Connections'],
};
/** The menus in the order in which the UI shows them. */
const MENUS: Record<Role, Record<string, string[]>> = {
  viewer: READER,
  operator: READER,
  editor: READER,
  admin: {
    Browse: ['Audit Log', ...DEADLINES, 'Jobs', 'XComs', 'Required Actions', ...OWN_PAGES],
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
let tab: WatchedPage;
let page: Page;
let runId: string;

const MAY_EDIT = (role: Role): boolean => role !== 'viewer';
/** The UI shows a menu as the API describes it, so that one role shows it by day. All roles open a browser at night. */
const IN_A_BROWSER: readonly Role[] = IS_NIGHTLY ? ['viewer', 'operator', 'editor', 'admin'] : ['viewer'];

/** Groups its tests under the roles. They come last, since they leave the tab to another person. */
export function testRoles(given: () => OpenUi & { runId: string }): void {
  describe('each role in the web UI', () => {
    beforeAll(async () => {
      ({ lite, tab, page, runId } = given());
      for (const role of Object.keys(MENUS)) {
        await lite.api('POST', '/users', { email: emailOf(role), password: PASSWORD, roles: [role] });
      }
      await tab.signOut();
    }, TIMEOUT_MS);

    it.each(Object.keys(MENUS) as Role[])('the API offers a role (%s) exactly what it may open', theApiOffers);

    // The role signs in once: to load the UI is most of what these tests cost.
    describe.each(IN_A_BROWSER)('%s', (role) => {
      beforeAll(() => tab.signIn({ username: emailOf(role), password: PASSWORD }), TIMEOUT_MS);
      afterAll(() => tab.signOut(), TIMEOUT_MS);

      isOffered(role);
      // An operator and an editor have every permission of a viewer, and the UI asks for nothing else for them.
      if (role === 'viewer' || role === 'admin') readsEverything(role);
      if (role === 'viewer') aViewerIsRefused();
      if (role === 'operator') anOperatorMayTrigger();
      if (role === 'editor') anEditorMayDoBoth();
      if (role === (IS_NIGHTLY ? 'operator' : 'viewer')) aSessionEnds(role);
    });
  });
}

const emailOf = (role: string): string => `${role}@example.com`;
const press = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).first().click();
const variables = async (): Promise<string[]> =>
  (await lite.api<{ variables: { key: string }[] }>('GET', '/variables')).variables.map(({ key }) => key);
const isPaused = async (): Promise<boolean> => (await lite.api<{ is_paused: boolean }>('GET', '/dags/hello')).is_paused;
const runs = async (): Promise<number> =>
  (await lite.api<{ total_entries: number }>('GET', '/dags/hello/dagRuns')).total_entries;

async function addVariable(key: string): Promise<void> {
  await tab.pressInDialog({
    button: tab.dialog().getByRole('button', { name: 'Save' }),
    open: () => press('Add Variable'),
    async fill() {
      await tab.dialog().getByLabel('Key').fill(key);
      await tab.dialog().getByLabel('Value').fill('new');
    },
    sends: /^POST .*\/variables$/,
  });
}

async function trigger(): Promise<void> {
  await tab.go('/pools', 'default_pool'); // from where nothing of the DAG's page is: what is waited for is its own
  await tab.go('/dags/hello', 'greet');
  const button = tab.dialog().getByRole('button', { name: 'Trigger' });
  await tab.pressInDialog({ button, open: () => press('Trigger'), sends: /^POST .*\/dagRuns$/ });
}

async function theApiOffers(role: Role): Promise<void> {
  const api = lite.apiAs(await lite.login(emailOf(role), { password: PASSWORD }));
  const { authorized_menu_items: offered } = await api<{ authorized_menu_items: string[] }>('GET', '/ui/auth/menus');
  const inMenus = offered.filter(
    (item) => MENUS.admin['Browse']?.includes(item) || MENUS.admin['Admin']?.includes(item),
  );
  const { plugins } = await api<{ plugins: { external_views: { name: string; destination: string }[] }[] }>(
    'GET',
    '/plugins',
  );
  const views = plugins.flatMap(({ external_views: views }) =>
    views.filter(({ destination }) => destination === 'nav'),
  );
  const entries = [...inMenus, ...views.map(({ name }) => name)];
  expect(entries.toSorted()).toEqual(Object.values(MENUS[role]).flat().toSorted());
  expect(await api('GET', '/ui/auth/me')).toMatchObject({ can_edit_workspace: MAY_EDIT(role) });
}

function isOffered(role: Role): void {
  it(
    'is offered exactly what it may open',
    async () => {
      await tab.go('/dags', 'hello');
      for (const [menu, entries] of Object.entries(MENUS[role])) {
        await press(menu);
        await tab.menu().getByRole('menuitem').first().waitFor();
        await expect.poll(() => tab.menu().getByRole('menuitem').allTextContents(), EVENTUALLY).toEqual(entries);
        await tab.look(`menu-${menu}-of-${role}`);
        await page.keyboard.press('Escape');
        await tab.menu().waitFor({ state: 'detached' });
      }
      const editor = page.getByRole('link', { name: 'Edit DAGs' });
      await expect.poll(() => editor.count(), EVENTUALLY).toBe(MAY_EDIT(role) ? 1 : 0);
    },
    TIMEOUT_MS,
  );
}

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
      const before = [await runs(), await isPaused(), await variables()];
      await tab.expectingStatuses([403], async () => {
        await expect.poll(() => page.getByText(REFUSAL).count(), EVENTUALLY).toBe(0);
        await trigger();
        await tab.dialog().getByText(REFUSAL).first().waitFor();
        await tab.look('refused-trigger');
        await page.keyboard.press('Escape');
        await page.getByText(REFUSAL).first().waitFor({ state: 'detached' });
        // A toast tells of this refusal, unless the toast of an earlier one is not over yet.
        const control = page.locator('[data-scope="switch"][data-part="control"]').first();
        const paused = page.waitForResponse((response) => response.request().method() === 'PATCH');
        await control.click();
        expect((await paused).status()).toBe(403);
        await tab.look('refused-pause');
        expect(await control.getAttribute('data-state')).toBe('checked');
        await tab.go(`/dags/hello/runs/${runId}/tasks/shout`, 'HELLO, WORLD!');
        const confirm = tab.dialog().getByRole('button', { name: 'Confirm' });
        await tab.untilShown(confirm, () => press(CLEAR));
        await tab.look('refused-clear');
        expect(await confirm.isDisabled()).toBe(true);
        await page.keyboard.press('Escape');
        await tab.go('/variables', 'greeting');
        await addVariable('by-viewer');
        await tab.dialog().getByText(REFUSAL).first().waitFor();
        await tab.look('refused-variable');
      });
      expect([await runs(), await isPaused(), await variables()]).toEqual(before);
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
      await tab.go('/variables', 'greeting');
      expect(await page.getByText(REFUSAL).count()).toBe(0);
      await tab.expectingStatuses([403], async () => {
        await addVariable('by-operator');
        await page.getByText(REFUSAL).first().waitFor();
      });
      expect(await variables()).not.toContain('by-operator');
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
      await tab.go('/variables', 'greeting');
      await addVariable('by-editor');
      await page.getByRole('row').filter({ hasText: 'by-editor' }).waitFor();
      expect(await variables()).toContain('by-editor');
    },
    TIMEOUT_MS,
  );
}

function aSessionEnds(role: Role): void {
  it(
    'whose session has ended gets to the login page, and from there back to where it was',
    async () => {
      const path = `/dags/hello/runs/${runId}/tasks/shout/xcom`;
      await tab.visit(path, 'return_value'); // anew: a log that was read before would be shown without asking for it
      const { users } = await lite.api<{ users: { id: string; email: string }[] }>('GET', '/users');
      const id = users.find(({ email }) => email === emailOf(role))?.id ?? '';
      await tab.expectingStatuses([401], async () => {
        await lite.api('PATCH', `/users/${id}`, { password: 'another one from now on' });
        await page.getByRole('link', { name: 'Logs' }).click();
        await page.waitForURL('**/auth/login?next=*');
        await tab.look('login-again');
        await page.fill('input[name=username]', emailOf(role));
        await page.fill('input[name=password]', 'another one from now on');
        await page.click('button[type=submit]');
        await page.getByText('HELLO, WORLD!').first().waitFor();
      });
      expect(decodeURIComponent(new URL(page.url()).pathname)).toBe(`/dags/hello/runs/${runId}/tasks/shout`);
    },
    TIMEOUT_MS,
  );
}
