/** A person answers the question of a task in the unmodified Airflow web UI, and the task goes on. */
import type { Browser } from 'playwright-core';
import { launchBrowser } from '@svc/testing/web-ui/browser.ts';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ADMIN, runEnds, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { openWatchedPage } from '@svc/testing/web-ui/watched-page.ts';
import type { WatchedPage } from '@svc/testing/web-ui/watched-page.ts';

const TIMEOUT_MS = 300_000;

const DAG = `
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import DAG, Param

with DAG("release", schedule=None):
    ApprovalOperator(
        task_id="approve",
        subject="May the release go out?",
        body="It has **three** changes.",
        params={"remark": Param("none", type="string", title="Remark")},
    ) >> EmptyOperator(task_id="ship")
`;

let lite: LiteInstance;
let browser: Browser;
let tab: WatchedPage;
let runId: string;

beforeAll(async () => {
  lite = await startLite({ examples: [], dags: { 'release/dags/release.py': DAG } });
  await vi.waitFor(() => lite.api('PATCH', '/dags/release', { is_paused: false }), { timeout: 60_000, interval: 500 });
  ({ dag_run_id: runId } = await lite.api<{ dag_run_id: string }>('POST', '/dags/release/dagRuns', {}));
  await vi.waitFor(
    async () => {
      const waiting = '/dags/~/dagRuns/~/hitlDetails?state=deferred&response_received=false';
      const { total_entries: total } = await lite.api<{ total_entries: number }>('GET', waiting);
      if (total !== 1) throw new Error('the task has not asked yet');
    },
    { timeout: 120_000, interval: 500 },
  );
  browser = await launchBrowser();
  tab = await openWatchedPage(browser, lite.url);
  await tab.signIn({ username: ADMIN, password: lite.password }, '/');
}, TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await lite?.stop();
}, TIMEOUT_MS);

afterEach(() => tab.expectNoProblems());

it('the pages show the question that waits', { timeout: TIMEOUT_MS }, async () => {
  await tab.go('/', 'Required Action');
  await tab.look('questions-home');
  await tab.go('/dags?has_pending_actions=true', 'release');
  await tab.look('questions-dags');
  await tab.go('/required_actions', 'May the release go out?');
  await tab.look('questions-list');
});

it('the list can be sorted by every column that offers it', { timeout: TIMEOUT_MS }, async () => {
  await tab.go('/required_actions', 'May the release go out?');
  const headings = tab.page.locator('th button, th [role=button]');
  const count = await headings.count();
  expect(count).toBeGreaterThan(3);
  for (let place = 0; place < count; place += 1) {
    const isSorted = (url: string): boolean => url.includes('hitlDetails') && url.includes('order_by');
    const sorted = tab.page.waitForResponse((response) => isSorted(response.url()));
    await headings.nth(place).click();
    const answer = await sorted;
    expect([answer.url(), answer.status()]).toEqual([answer.url(), 200]);
    await tab.page.getByText('May the release go out?').first().waitFor();
  }
});

it('a question is answered on the page of its task, and the run goes on', { timeout: TIMEOUT_MS }, async () => {
  await tab.go(`/dags/release/runs/${runId}/tasks/approve/required_actions`, 'May the release go out?');
  await tab.look('questions-task');
  const remark = tab.page.locator('input[name="element_remark"]');
  await remark.fill('go ahead');
  await remark.press('Tab'); // the form takes a field over when it is left
  await tab.page.getByRole('button', { name: 'Approve', exact: true }).click();
  await runEnds(lite.api, 'release', runId);
  const path = `/dags/release/dagRuns/${encodeURIComponent(runId)}/taskInstances/approve/-1/hitlDetails`;
  expect(await lite.api('GET', path)).toMatchObject({
    chosen_options: ['Approve'],
    params_input: { remark: 'go ahead' },
    responded_by_user: { name: ADMIN },
  });
  await tab.visit('/required_actions', 'May the release go out?');
  await tab.look('questions-answered');
});
