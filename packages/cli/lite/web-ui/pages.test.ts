/**
 * The unmodified Airflow web UI against a real lite instance, in a real browser: every page, with data, as an administrator,
 * a viewer and a second tenant see it.
 */
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EVENTUALLY, runEnds, runToEnd } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { openUi } from '@svc/testing/web-ui/open-ui.ts';
import type { OpenUi } from '@svc/testing/web-ui/open-ui.ts';
import { browseNeeds, prepareBrowse, testBrowse } from '@svc/testing/web-ui/test-browse.ts';
import { NEWER_NEED, prepareNewerPages, testNewerPages } from '@svc/testing/web-ui/test-newer-pages.ts';
import { OURS, plantSecondTenant, testOtherTenant } from '@svc/testing/web-ui/test-other-tenant.ts';
import type { SecondTenant } from '@svc/testing/web-ui/test-other-tenant.ts';
import { testOwnTabs } from '@svc/testing/web-ui/test-own-tabs.ts';
import { testRoles } from '@svc/testing/web-ui/test-roles.ts';
import { UI_VERSION, envOf } from '@svc/testing/web-ui/ui-version.ts';
import type { WatchedPage } from '@svc/testing/web-ui/watched-page.ts';

const EXAMPLES = ['hello', 'fan_out', 'rocket_launch', 'bakery_assets', 'fails_on_purpose', 'bash_tour', 'moon_phases'];
/** A file nobody can import, for the place where the UI says so. */
const BROKEN = { 'broken/dag.py': 'from airflow.sdk import DAG\n\nthis is no Python\n' };
/** The one page of the UI that shows none of the texts below: for when the page before has the text, too. */
const ELSEWHERE = { path: '/providers', text: 'Package Name' };
/** That one itself, and the code of a DAG: right after a load the UI asks for it without a version, and never again. */
const LOADED = new Set([ELSEWHERE.path, '/dags/hello/code']);
const TIMEOUT_MS = 400_000;

let ui: OpenUi;
let lite: LiteInstance;
let tab: WatchedPage;
let secondTenant: SecondTenant;
/** Ids of runs, by DAG. */
let runs: Record<string, string>;

beforeAll(async () => {
  const { dags, env } = await browseNeeds();
  ui = await openUi(
    { examples: EXAMPLES, dags: { ...BROKEN, ...NEWER_NEED, ...dags }, env: { ...env, ...envOf(UI_VERSION) } },
    prepare,
    '/dags/hello',
    'a deep link',
  );
  ({ lite, tab } = ui);
  secondTenant.listenTo(tab.page);
}, TIMEOUT_MS);

afterAll(() => ui?.close(), TIMEOUT_MS);

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await tab.keepFailure(task.name);
  tab.expectNoProblems();
});

async function prepare(started: LiteInstance): Promise<void> {
  const { api } = started;
  await api('PATCH', '/dags/bakery_shop', { is_paused: false });
  const ended = ['hello', 'fan_out', 'rocket_launch', 'bakery_oven', 'bash_tour'].map(
    async (dagId) => [dagId, await runToEnd(api, dagId)] as const,
  );
  runs = Object.fromEntries(await Promise.all(ended));
  await api('PATCH', '/dags/fails_on_purpose', { is_paused: false });
  const failing = await api<{ dag_run_id: string }>('POST', '/dags/fails_on_purpose/dagRuns', {});
  await runEnds(api, 'fails_on_purpose', failing.dag_run_id, 'failed');
  await api('POST', '/variables', { key: 'greeting', value: 'hello', description: OURS.value });
  await api('POST', '/connections', { connection_id: 'warehouse', conn_type: 'postgres', host: OURS.value });
  const runId = runs['hello'] ?? '';
  await api('PATCH', `/dags/hello/dagRuns/${encodeURIComponent(runId)}`, { note: OURS.value });
  secondTenant = await plantSecondTenant(started, runId);
  await prepareBrowse(started);
  await prepareNewerPages(started);
}

/**
 * Opens a page from another one that has nothing of it, sees what it must show, and keeps a picture. To load the UI anew
 * for each would show no more, as long as the server has the same document for every address: that is looked at, too.
 */
async function open(name: string, path: string, text: string): Promise<void> {
  expect(await documentAt(path)).toBe(await documentAt('/'));
  if (LOADED.has(path)) await tab.visit(path, text);
  else {
    if ((await tab.page.getByText(text).count()) > 0) await tab.go(ELSEWHERE.path, ELSEWHERE.text);
    await tab.go(path, text);
  }
  await tab.look(name);
}

const documentAt = async (path: string): Promise<string> => {
  const answer = await fetch(`${lite.url}${path}`, { headers: { accept: 'text/html' } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  return answer.text();
};

describe('the web UI with data', () => {
  it.each([
    // Pages with a text in common are kept apart, because each needs a page between them.
    ['home', '/', 'Active Dags'],
    ['dags', '/dags', 'fan_out'],
    ['dag', '/dags/hello', 'greet'],
    ['dag-failed', '/dags/fails_on_purpose', 'Recent Failed Task Logs'],
    ['assets', '/assets', 'bread'],
    ['dag-runs', '/dags/hello/runs', 'manual__'],
    ['dag-calendar', '/dags/hello/calendar', 'Total Runs'],
    ['dag-events', '/dags/hello/events', 'trigger_dag_run'],
    ['dag-code', '/dags/hello/code', 'Parsed at'],
    ['task-without-run', '/dags/hello/tasks/shout', 'Last Task Instance'],
    ['variables', '/variables', 'greeting'],
    ['dag-tasks', '/dags/hello/tasks', 'greet'],
    ['connections', '/connections', 'warehouse'],
    ['all-runs', '/dag_runs', 'hello'],
    ['all-task-instances', '/task_instances', 'greet'],
    ['dag-backfills', '/dags/moon_phases/backfills', 'Backfill'],
    ['pools', '/pools', 'default_pool'],
    ['dag-details', '/dags/hello/details', 'Max Active Runs'],
    ['providers', '/providers', 'Package Name'],
    ['plugins', '/plugins', 'Plugin'],
    ['configs', '/configs', 'Section'],
    ['audit-log', '/events', 'trigger_dag_run'],
    ['jobs', '/jobs', 'SchedulerJob'],
    ['xcoms', '/xcoms', 'return_value'],
    ['required-actions', '/required_actions', 'Required Action'],
  ])('page %s (%s) shows %s', open, TIMEOUT_MS);

  it.each([
    ['run', 'hello', '', 'shout'],
    ['run-events', 'hello', '/events', 'trigger_dag_run'],
    ['run-code', 'hello', '/code', 'Parsed at'],
    ['run-details', 'hello', '/details', 'Run ID'],
    ['task-logs', 'hello', '/tasks/shout', 'HELLO, WORLD!'],
    ['task-xcom', 'hello', '/tasks/shout/xcom', 'return_value'],
    ['task-details', 'hello', '/tasks/shout/details', 'Hostname'],
    ['task-rendered', 'bash_tour', '/tasks/count_words/rendered_templates', 'bash_command'],
    ['task-asset-events', 'bakery_oven', '/tasks/bake_bread/asset_events', 'bread'],
    ['mapped', 'fan_out', '/tasks/square/mapped', '8²'],
    ['mapped-one', 'fan_out', '/tasks/square/mapped/2', 'Returned value was: 9'],
    ['group', 'rocket_launch', '/tasks/group/boarding', 'boarding.suit_up'],
  ])(
    'page %s of a run of %s (%s) shows %s',
    (name, dagId, rest, text) => open(name, `/dags/${dagId}/runs/${runs[dagId]}${rest}`, text),
    TIMEOUT_MS,
  );

  it(
    'the page of an asset shows what makes it and what it starts',
    async () => {
      const { assets } = await lite.api<{ assets: { id: number }[] }>('GET', '/assets?name_pattern=bread');
      await open('asset', `/assets/${assets[0]?.id}`, 'bakery_shop');
    },
    TIMEOUT_MS,
  );

  it(
    'the dashboard names a file that cannot be imported',
    async () => {
      await tab.go('/', 'Active Dags');
      await tab.openDialog(tab.page.getByRole('button', { name: /Import Error/ }), 'broken');
      await tab.look('import-error');
    },
    TIMEOUT_MS,
  );

  it(
    'shows the edition, and the name of the instance in the title',
    async () => {
      await tab.go('/dags', 'hello');
      expect(await tab.page.locator('#svc-corner .svc-lite').textContent()).toBe('LITE');
      await expect.poll(() => tab.page.title(), EVENTUALLY).toContain('svc');
    },
    TIMEOUT_MS,
  );

  it(
    'has its additions in the free part of the menu, where they cover no control, and leaves them out where there is no room',
    async () => {
      await tab.go('/dags', 'hello');
      const corner = tab.page.locator('#svc-corner');
      const boxOf = async (what: Locator) => (await what.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const [added, menu, docs] = await Promise.all(
        [corner, tab.page.getByTestId('nav-sidebar'), tab.page.getByRole('button', { name: 'Docs' })].map(boxOf),
      );
      expect(added?.x).toBeGreaterThanOrEqual(menu?.x ?? Infinity);
      expect((added?.x ?? 0) + (added?.width ?? 0)).toBeLessThanOrEqual((menu?.x ?? 0) + (menu?.width ?? 0));
      expect((added?.y ?? 0) + (added?.height ?? 0)).toBeLessThanOrEqual(docs?.y ?? 0);
      const size = tab.page.viewportSize() ?? { width: 1_400, height: 900 };
      await tab.page.setViewportSize({ width: size.width, height: 560 });
      await corner.waitFor({ state: 'hidden' });
      await tab.page.setViewportSize(size);
      await corner.waitFor({ state: 'visible' });
    },
    TIMEOUT_MS,
  );

  it(
    'leads links to the documentation of Airflow to the version of the web UI, not to a page of our version',
    async () => {
      await tab.go('/dags', 'hello');
      await tab.page.getByRole('button', { name: 'Docs' }).click();
      const link = tab.page.locator('a[href*="docs/apache-airflow/"]');
      await link.hover();
      expect(await link.getAttribute('href')).toBe(
        `https://airflow.apache.org/docs/apache-airflow/${UI_VERSION}/index.html`,
      );
    },
    TIMEOUT_MS,
  );
});

testBrowse(() => ui);
if (UI_VERSION !== '3.2.2') testNewerPages(() => ui);
testOwnTabs(() => ui);
testOtherTenant(() => secondTenant);
testRoles(() => ({ ...ui, runId: runs['hello'] ?? '' }));
