/** Tests of what people keep in the web UI besides runs, in a browser: variables, connections, pools, favourites, looks. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { EVENTUALLY, runToEnd } from './lite-instance.ts';
import type { LiteInstance } from './lite-instance.ts';
import type { OpenUi } from './open-ui.ts';
import { UI_VERSION } from './ui-version.ts';
import type { WatchedPage } from './watched-page.ts';

/** Two versions of one DAG. */
const tide = (word: string): string => `
from airflow.sdk import dag, task

@dag(schedule=None, tags=["sea"])
def tide():
    @task
    def say():
        print("${word}")

    say()

tide()
`;
const TIMEOUT_MS = 400_000;

let lite: LiteInstance;
let tab: WatchedPage;
let page: Page;

/** What a lite needs for these tests. */
export const SETTINGS_NEED = {
  examples: ['rocket_launch'],
  dags: { 'tide/dag.py': tide('low water') },
  env: { SVC_CONNECTIONS_TEST_ENABLED: 'true' },
};
let graphRunId: string;

/** Comes before the UI is opened, which then need not be loaded again. */
export async function prepareSettings({ api }: LiteInstance): Promise<void> {
  graphRunId = await runToEnd(api, 'rocket_launch');
  for (const key of ['ebb', 'flow', 'stays']) await api('POST', '/variables', { key, value: `of ${key}` });
}

export function testSettings(given: () => OpenUi): void {
  describe('settings in the web UI', () => {
    beforeAll(() => {
      ({ lite, tab, page } = given());
    });
    testPools(); // before the others, whose toasts could cover its buttons
    testVariables();
    testConnections();
    testListOfDags();
    testDag();
    testLooks();
  });
}

const row = (text: string): Locator => page.getByRole('row').filter({ hasText: text });
const press = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).first().click();

type Kind = 'variables' | 'connections' | 'pools';

/** Fills in the dialog that the button opens. */
async function save(kind: Kind, button: Locator, fill: () => Promise<void>): Promise<void> {
  await tab.settled(); // a list that comes late takes a dialog of one of its rows away
  await tab.pressInDialog({
    button: tab.dialog().getByRole('button', { name: 'Save' }),
    open: () => button.click(),
    fill,
    sends: new RegExp(`^(POST|PATCH) .*/${kind}`),
  });
  await tab.dialog().waitFor({ state: 'detached' });
}

/** Asks once more before it deletes. */
async function confirmDeletion(kind: Kind, open: () => Promise<void>): Promise<void> {
  await tab.settled();
  const button = tab
    .dialog()
    .getByRole('button', { name: /delete/i })
    .last();
  await tab.pressInDialog({ button, open, sends: new RegExp(`^(DELETE|PATCH) .*/${kind}`) });
  await tab.dialog().waitFor({ state: 'detached' });
}

async function deleteChosen(...names: string[]): Promise<void> {
  await tab.settled();
  for (const name of names) await row(name).locator('[data-scope=checkbox][data-part=control]').click();
  // The bar with what can be done with them is a dialog, too.
  const chosen = page.locator('[data-scope=action-bar], [data-scope=popover][data-state=open]');
  await chosen.getByRole('button', { name: /delete/i }).click();
  await tab.look('bulk-delete');
  await tab
    .dialog()
    .getByRole('button', { name: /delete/i })
    .last()
    .click();
  await tab.dialog().waitFor({ state: 'detached' });
}

function testVariables(): void {
  describe('variables', () => {
    it(
      'are made, changed and deleted one by one',
      async () => {
        await tab.go('/variables');
        await save('variables', page.getByRole('button', { name: 'Add Variable' }).first(), async () => {
          await tab.dialog().getByLabel('Key').fill('port_of_call');
          await tab.dialog().getByLabel('Value').fill('Lisbon');
          await tab.dialog().getByLabel('Description').fill('where we go next');
        });
        await row('port_of_call').getByText('Lisbon').waitFor();
        await save('variables', row('port_of_call').getByRole('button', { name: 'Edit Variable' }), () =>
          tab.dialog().getByLabel('Value').fill('Porto'),
        );
        await row('port_of_call').getByText('Porto').waitFor();
        expect(await lite.api('GET', '/variables/port_of_call')).toMatchObject({
          value: 'Porto',
          description: 'where we go next',
        });
        await confirmDeletion('variables', () =>
          row('port_of_call').getByRole('button', { name: 'Delete Variable' }).click(),
        );
        await row('port_of_call').waitFor({ state: 'detached' });
      },
      TIMEOUT_MS,
    );

    it(
      'are deleted together, and those not chosen stay',
      async () => {
        await tab.go('/variables', 'of stays');
        await deleteChosen('of ebb', 'of flow');
        await row('of ebb').waitFor({ state: 'detached' });
        const { variables } = await lite.api<{ variables: { key: string }[] }>('GET', '/variables');
        expect(variables.map(({ key }) => key)).toEqual(['stays']);
      },
      TIMEOUT_MS,
    );

    it(
      'are imported from a file, and everything done here stands in the audit log',
      async () => {
        await tab.go('/variables', 'of stays');
        const content = JSON.stringify({ compass: 'north', anchor: { value: 'up', description: 'for now' } });
        await tab.pressInDialog({
          button: tab.dialog().getByRole('button', { name: 'Import' }),
          open: () => press('Import Variables'),
          fill: () =>
            tab
              .dialog()
              .locator('input[type=file]')
              .setInputFiles({ name: 'variables.json', mimeType: 'application/json', buffer: Buffer.from(content) }),
          sends: /^PATCH .*\/variables$/,
        });
        await row('compass').getByText('north').waitFor();
        await tab.go('/events', 'post_variable');
        for (const event of ['patch_variable', 'delete_variable']) await page.getByText(event).first().waitFor();
        await tab.look('audit-of-settings');
      },
      TIMEOUT_MS,
    );
  });
}

function testConnections(): void {
  describe('connections', () => {
    it(
      'are made with the form of their type, changed, and deleted together',
      async () => {
        await tab.go('/connections');
        for (const id of ['harbour', 'wharf']) {
          await save('connections', page.getByRole('button', { name: 'Add Connection' }).first(), async () => {
            await tab.dialog().getByLabel('Connection ID').fill(id);
            await tab.dialog().getByRole('combobox').click();
            await tab.enter('postgres');
            await page.getByRole('option', { name: 'postgres' }).first().click(); // the types are asked for with the form
            await tab.dialog().getByLabel('Host').fill(`${id}.example.com`);
            await tab.dialog().getByLabel('Port').fill('5433');
            await tab.dialog().getByLabel('Password').fill('ahoy ahoy');
            await tab.look('connection-form');
          });
          await row(`${id}.example.com`).waitFor();
        }
        await save('connections', row('harbour').getByRole('button', { name: 'Edit Connection' }), () =>
          tab.dialog().getByLabel('Login').fill('pilot'),
        );
        const stored = await lite.api('GET', '/connections/harbour');
        expect(stored).toMatchObject({
          conn_type: 'postgres',
          host: 'harbour.example.com',
          port: 5433,
          login: 'pilot',
        });
        expect(JSON.stringify(stored)).not.toContain('ahoy');
        await tab.settled();
        const tested = page.waitForResponse((response) => response.url().endsWith('/api/v2/connections/test'));
        // That it does not work is told by a toast, as an error.
        await tab.expectingStatuses([0], async () => {
          await row('harbour').getByRole('button', { name: 'Test Connection' }).click();
          expect(await (await tested).json()).toEqual({
            status: false,
            message: expect.stringContaining('add apache-airflow-providers-postgres') as string,
          });
        });
        await deleteChosen('harbour', 'wharf');
        await row('wharf').waitFor({ state: 'detached' });
        expect(await lite.api('GET', '/connections')).toMatchObject({ total_entries: 0 });
      },
      TIMEOUT_MS,
    );
  });
}

function testPools(): void {
  describe('pools', () => {
    it(
      'are made, changed and deleted',
      async () => {
        await tab.go('/pools', 'default_pool');
        await save('pools', page.getByRole('button', { name: 'Add Pool' }).first(), async () => {
          await tab.dialog().getByLabel('Name').fill('lifeboats');
          await tab.dialog().getByRole('spinbutton').fill('4');
        });
        await page.getByText('lifeboats (4 Slots)').waitFor();
        await save('pools', page.getByRole('button', { name: 'Edit Pool' }).last(), () =>
          tab.dialog().getByRole('spinbutton').fill('6'),
        );
        await page.getByText('lifeboats (6 Slots)').waitFor();
        await tab.look('pools-two');
        await confirmDeletion('pools', () => press('Delete Pool'));
        await page.getByText('lifeboats').waitFor({ state: 'detached' });
      },
      TIMEOUT_MS,
    );
  });
}

const isPaused = async (): Promise<boolean> => (await lite.api<{ is_paused: boolean }>('GET', '/dags/tide')).is_paused;

function testListOfDags(): void {
  describe('the list of DAGs', () => {
    it(
      'unpauses and pauses a DAG',
      async () => {
        await tab.go('/dags?name_pattern=tide', '1 Dag');
        const control = page.locator('[data-scope="switch"][data-part="control"]').first();
        for (const expected of [false, true]) {
          await control.click();
          await expect.poll(isPaused, EVENTUALLY).toBe(expected);
          // The page asks anew before it knows; a click until then would ask for what is there already.
          await expect
            .poll(() => control.getAttribute('data-state'), EVENTUALLY)
            .toBe(expected ? 'unchecked' : 'checked');
        }
      },
      TIMEOUT_MS,
    );

    it(
      'finds by tag',
      async () => {
        await tab.go('/dags', 'rocket_launch');
        await page.getByRole('combobox', { name: 'Filter Dags by tag' }).click();
        await tab.enter('sea');
        await page.getByRole('option', { name: 'sea' }).click();
        await page.getByRole('heading', { name: '1 Dag' }).waitFor();
        expect(await page.getByRole('link', { name: 'tide' }).count()).toBe(1);
        expect(await page.getByRole('link', { name: 'rocket_launch' }).count()).toBe(0);
        await tab.look('dags-by-tag');
      },
      TIMEOUT_MS,
    );

    it(
      'finds by the search box of every page',
      async () => {
        await tab.go('/dags/hello', 'greet');
        await page.getByRole('button', { name: /Search Dags/ }).click();
        await tab.enter('rock');
        await page.getByRole('option', { name: 'rocket_launch' }).first().waitFor();
        await tab.look('search');
        await page.keyboard.press('Enter');
        await page.waitForURL('**/dags/rocket_launch');
      },
      TIMEOUT_MS,
    );

    it(
      'has favourites, which the dashboard shows',
      async () => {
        await tab.go('/dags?name_pattern=tide', '1 Dag');
        // From the beginning: the one is in the name of the other, which stays until the list has come anew.
        await press(/^Favorite Dag/);
        await press(/^Unfavorite Dag/);
        await press(/^Favorite Dag/);
        await page.getByRole('button', { name: 'Unfavorite Dag' }).first().waitFor();
        await tab.go('/', 'Active Dags');
        await page.getByRole('link', { name: 'tide' }).first().waitFor();
        await tab.look('home-favourite');
      },
      TIMEOUT_MS,
    );
  });
}

function testDag(): void {
  describe('a DAG', () => {
    it(
      'shows its code in every version, and what changed',
      async () => {
        const code = async (): Promise<string> =>
          (await page.locator('.view-lines').allTextContents()).join(' ').replaceAll('\u00a0', ' ');
        await tab.go('/dags/tide/code');
        await expect.poll(code, EVENTUALLY).toContain('low water');
        lite.writeDag('tide/dag.py', tide('high water'));
        const versions = async (): Promise<number> =>
          (await lite.api<{ total_entries: number }>('GET', '/dags/tide/dagVersions')).total_entries;
        await expect.poll(versions, EVENTUALLY).toBe(2);
        await tab.visit('/dags/tide/code');
        await expect.poll(code, EVENTUALLY).toContain('high water');
        await tab.look('code-2');
        await page.getByRole('combobox').filter({ hasText: 'v2' }).click();
        await page.getByRole('option', { name: /v1/ }).click();
        await expect.poll(code, EVENTUALLY).toContain('low water');
        await tab.look('code-1');
      },
      TIMEOUT_MS,
    );

    it(
      'is drawn as a graph with open groups and mapped tasks, and as bars over time',
      async () => {
        await tab.go(`/dags/rocket_launch/runs/${graphRunId}`);
        const node = (text: string): Locator => page.locator('.react-flow__node').getByText(text);
        await tab.untilShown(node('suit_up [3]'), async () => {
          await press(/Show Graph/);
          await node('boarding').first().waitFor();
          await press('Expand all task groups');
        });
        await node('t_minus_1').waitFor();
        await tab.look('graph');
        await press(/Show Grid/);
        await tab.settled();
        if (UI_VERSION === '3.2.2') await press('Options');
        const bars = page.waitForResponse(/\/ui\/gantt\//);
        if (UI_VERSION === '3.2.2') await page.getByText('Show Gantt').click();
        else await press('Show Gantt');
        expect((await bars).status()).toBe(200);
        await page.keyboard.press('Escape');
        await tab.look('gantt');
      },
      TIMEOUT_MS,
    );
  });
}

function testLooks(): void {
  describe('the looks', () => {
    it(
      'are dark and speak another language when wanted, also after a reload',
      async () => {
        const isDark = (): Promise<unknown> => page.evaluate('document.documentElement.classList.contains("dark")');
        await tab.go('/dags', 'tide');
        const dark = page.getByRole('menuitemradio', { name: 'Dark Mode' });
        await tab.untilShown(dark, async () => {
          if ((await tab.menu().count()) === 0) await press('User');
          await tab.menu().getByRole('menuitem', { name: 'Appearance' }).hover();
        });
        await dark.click();
        await expect.poll(isDark, EVENTUALLY).toBe(true);
        await tab.menu().waitFor({ state: 'detached' });
        await press('User');
        await tab.menu().getByRole('menuitem', { name: 'Select Language' }).click();
        await tab.dialog().getByRole('combobox').click();
        await tab.enter('Deutsch');
        await page.keyboard.press('Enter');
        await page.getByText('Benutzer').first().waitFor();
        await tab.visit('/dags', 'Benutzer');
        expect(await isDark()).toBe(true);
        await tab.look('dark-and-german');
      },
      TIMEOUT_MS,
    );
  });
}
