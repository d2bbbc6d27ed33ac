/** The unmodified Airflow web UI against a real lite instance, in a real browser: every page with data, and what people do. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, openPage } from '@svc/server/testing/browser.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { spawnSvc } from '../testing/spawn-svc.ts';
import type { SpawnedSvc } from '../testing/spawn-svc.ts';
import { probePort } from './ports.ts';

const ROOT = resolve(import.meta.dirname, '..', '..', '..');
/** Kept for whoever wants to look at what a person would have seen. */
const SCREENSHOTS = join(ROOT, 'test-output', 'ui');

let directory: string;
let lite: SpawnedSvc;
let url: string;
let token: string;
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-web-ui-'));
  chmodSync(directory, 0o755);
  mkdirSync(SCREENSHOTS, { recursive: true });
  const port = (await probePort('127.0.0.1', 0)) ?? 0;
  url = `http://127.0.0.1:${port}`;
  lite = spawnSvc(['lite', join(ROOT, 'examples'), '--port', String(port), '--data-dir', join(directory, 'data')]);
  await lite.until('is running');
  await lite.until('Ctrl-C');
  const password = readFileSync(join(directory, 'data', 'secrets', 'admin-password'), 'utf8').trim();
  const answer = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin@localhost', password }),
  });
  token = ((await answer.json()) as { access_token: string }).access_token;
  browser = await launchBrowser();
  ({ page, problems } = await openPage(browser, [401]));
  await page.setViewportSize({ width: 1_400, height: 900 });
  // A deep link, before there is a session: to the login page and back.
  await page.goto(`${url}/dags/hello`);
  await page.waitForURL('**/auth/login?next=*');
  await page.fill('input[name=username]', 'admin@localhost');
  await page.fill('input[name=password]', password);
  await page.click('button[type=submit]');
  await page.waitForURL('**/dags/hello');
}, 180_000);

afterAll(async () => {
  await browser?.close();
  lite?.kill('SIGTERM');
  await lite?.ended;
  rmSync(directory, { recursive: true, force: true });
});

async function api<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

async function runToEnd(dagId: string): Promise<string> {
  await api('PATCH', `/dags/${dagId}`, { is_paused: false });
  const { dag_run_id: runId } = await api<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, {});
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
  const isOver = async (): Promise<void> =>
    expect((await api<{ state: string }>('GET', path)).state, `state of ${runId}`).toBe('success');
  await vi.waitFor(isOver, { timeout: 60_000, interval: 200 });
  return runId;
}

/** The UI polls all the time, so the network is never quiet: the shell is drawn, and what it asked at once is answered. */
async function settled(): Promise<void> {
  await page.getByText('Dags').first().waitFor({ timeout: 30_000 });
  await page.waitForTimeout(1_200);
}

/** Opens a page of the UI, waits until it has settled, and says what went wrong on it. */
async function visit(name: string, path: string, text?: string): Promise<void> {
  problems.length = 0;
  await page.goto(`${url}${path}`);
  if (text !== undefined) await page.getByText(text, { exact: false }).first().waitFor({ timeout: 20_000 });
  await settled();
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  expect(problems).toEqual([]);
  expect(await page.locator('[data-scope="toast"][data-type="error"]').count()).toBe(0);
}

describe('every page, with data', () => {
  let runId: string;
  beforeAll(async () => {
    runId = await runToEnd('hello');
    await runToEnd('fan_out');
    await api('POST', '/variables', { key: 'greeting', value: 'hello' });
    await api('POST', '/connections', { connection_id: 'warehouse', conn_type: 'postgres', host: 'db.example.com' });
  }, 120_000);

  it.each([
    ['home', '/', 'Active Dags'],
    ['dags', '/dags', 'fan_out'],
    ['dag', '/dags/hello', 'greet'],
    ['dag-runs', '/dags/hello/runs', 'manual__'],
    ['dag-tasks', '/dags/hello/tasks', 'greet'],
    ['dag-calendar', '/dags/hello/calendar', undefined],
    ['dag-events', '/dags/hello/events', 'trigger_dag_run'],
    ['dag-code', '/dags/hello/code', undefined],
    ['dag-details', '/dags/hello/details', undefined],
    ['all-runs', '/dag_runs', 'hello'],
    ['all-task-instances', '/task_instances', 'greet'],
    ['assets', '/assets', undefined],
    ['variables', '/variables', 'greeting'],
    ['connections', '/connections', 'warehouse'],
    ['pools', '/pools', 'default_pool'],
    ['providers', '/providers', undefined],
    ['plugins', '/plugins', undefined],
    ['configs', '/configs', undefined],
    ['audit-log', '/events', 'trigger_dag_run'],
    ['jobs', '/jobs', undefined],
    ['xcoms', '/xcoms', 'return_value'],
    ['required-actions', '/required_actions', undefined],
  ])('%s', async (name, path, text) => visit(name, path, text), 60_000);

  it.each([
    ['run', '', 'shout'],
    ['task-logs', '/tasks/shout', 'HELLO, WORLD!'],
    ['task-xcom', '/tasks/shout/xcom', 'return_value'],
    ['task-details', '/tasks/shout/details', 'shout'],
    ['task-rendered', '/tasks/shout/rendered_templates', undefined],
  ])(
    'of a run: %s',
    async (name, path, text) => {
      await visit(name, `/dags/hello/runs/${encodeURIComponent(runId)}${path}`, text);
    },
    60_000,
  );

  it('shows the edition, and the name of the instance in the title', async () => {
    await visit('shell', '/dags');
    expect(await page.locator('#svc-corner .svc-lite').textContent()).toBe('LITE');
    expect(await page.title()).toContain('svc');
  }, 60_000);
});

describe('what people do', () => {
  it('triggers a run from the form and reads its log', async () => {
    problems.length = 0;
    await page.goto(`${url}/dags/branching`);
    await settled();
    await page.getByRole('button', { name: 'Trigger' }).first().click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /trigger/i })
      .last()
      .click();
    await page.waitForURL('**/dags/branching/runs/*', { timeout: 30_000 });
    await expect
      .poll(
        async () =>
          (await api<{ dag_runs: { state: string }[] }>('GET', '/dags/branching/dagRuns?limit=1')).dag_runs[0]?.state,
        {
          timeout: 60_000,
        },
      )
      .toBe('success');
    await page.screenshot({ path: join(SCREENSHOTS, 'triggered.png') });
    expect(problems).toEqual([]);
  }, 120_000);

  it('pauses a DAG from the list', async () => {
    problems.length = 0;
    await api('PATCH', '/dags/hello', { is_paused: false });
    await page.goto(`${url}/dags/hello`);
    await settled();
    await page.locator('[data-scope="switch"][data-part="control"]').first().click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: /confirm/i });
    if (await confirm.count()) await confirm.click();
    await expect
      .poll(async () => (await api<{ is_paused: boolean }>('GET', '/dags/hello')).is_paused, { timeout: 20_000 })
      .toBe(true);
    expect(problems).toEqual([]);
  }, 60_000);
});
