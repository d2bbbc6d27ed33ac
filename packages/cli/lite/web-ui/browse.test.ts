/** Lists under Browse and Admin in a real browser on a real lite instance: searched, sorted and filtered as Airflow's own do. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { launchBrowser } from '@svc/testing/web-ui/browser.ts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { ADMIN, EVENTUALLY, runToEnd, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { openWatchedPage } from '@svc/testing/web-ui/watched-page.ts';
import type { WatchedPage } from '@svc/testing/web-ui/watched-page.ts';

const TIMEOUT_MS = 400_000;
/** Two values a task pushes in the order of neither their names nor the alphabet. */
const DAGS = `
from datetime import datetime
from airflow.sdk import dag, task

@dag(schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False)
def harvest():
    @task
    def pick(ti=None):
        for key in ("pear", "apple", "quince"):
            ti.xcom_push(key=key, value=key.upper())

    pick()

harvest()
`;
/** A provider package that needs no network. */
const WRITE_WHEEL = `
import sys, zipfile
info = "apache_airflow_providers_orchard-2.4.dist-info"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("orchard.py", "")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: apache-airflow-providers-orchard\\nVersion: 2.4\\nSummary: Trees and what grows on them\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

const folder = mkdtempSync(join(tmpdir(), 'svc-browse-'));
const wheel = join(folder, 'apache_airflow_providers_orchard-2.4-py3-none-any.whl');
let lite: LiteInstance;
let browser: Browser;
let tab: WatchedPage;
let page: Page;

beforeAll(async () => {
  chmodSync(folder, 0o755); // tasks may run as another user
  execFileSync(await pythonEnvironment(), ['-c', WRITE_WHEEL, wheel]);
  const project = `dependencies:\n  - ${wheel}\n`;
  lite = await startLite({ examples: [], dags: { 'orchard/dag.py': DAGS, 'orchard/svc.yaml': project } });
  await runToEnd(lite.api, 'harvest');
  browser = await launchBrowser();
  tab = await openWatchedPage(browser, lite.url);
  ({ page } = tab);
  await tab.signIn({ username: ADMIN, password: lite.password });
}, TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await lite?.stop();
  rmSync(folder, { recursive: true, force: true });
}, TIMEOUT_MS);

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await tab.look(`failed ${task.name.slice(0, 60)}`);
  tab.expectNoProblems();
});

const rows = (): Locator => page.locator('tbody tr');
/** The texts of one column, from above. */
const column = async (index: number): Promise<string[]> =>
  (await rows().locator(`td:nth-child(${index})`).allTextContents()).map((text) => text.trim());
const sortBy = (title: string): Promise<void> =>
  page
    .locator('th')
    .filter({ hasText: new RegExp(`^${title}$`) })
    .locator('button[aria-label=sort]')
    .click();

it(
  'the audit log is searched by the beginning of an event',
  async () => {
    await tab.visit('/events', 'trigger_dag_run');
    expect(new Set(await column(2)).size).toBeGreaterThan(1);
    await page
      .getByRole('button', { name: /^\+?\s*Filter/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Event Type' }).click();
    await page.keyboard.type('trigger_');
    await page.keyboard.press('Enter');
    await expect.poll(async () => [...new Set(await column(2))], EVENTUALLY).toEqual(['trigger_dag_run']);
  },
  TIMEOUT_MS,
);

it(
  'XComs are sorted by key and by time, both ways',
  async () => {
    await tab.go('/xcoms', 'quince');
    await sortBy('Key');
    await expect.poll(() => column(1), EVENTUALLY).toEqual(['apple', 'pear', 'quince']);
    await sortBy('Key');
    await expect.poll(() => column(1), EVENTUALLY).toEqual(['quince', 'pear', 'apple']);
    await sortBy('timestamp');
    await expect.poll(() => column(1), EVENTUALLY).toEqual(['pear', 'apple', 'quince']);
  },
  TIMEOUT_MS,
);

it(
  'the table of backfills has the newest first, another order when asked, and only the columns that are wanted',
  async () => {
    for (const day of ['01', '02']) {
      const date = `2026-03-${day}T00:00:00Z`;
      await lite.api('POST', '/backfills', { dag_id: 'harvest', from_date: date, to_date: date });
      const open = async (): Promise<number> =>
        (await lite.api<{ total_entries: number }>('GET', '/backfills?dag_id=harvest&active=true')).total_entries;
      await expect.poll(open, EVENTUALLY).toBe(0);
    }
    await tab.visit('/dags/harvest/backfills', '2 Backfills');
    await expect.poll(() => column(1), EVENTUALLY).toEqual(['2026-03-02 00:00:00', '2026-03-01 00:00:00']);
    await tab.visit('/dags/harvest/backfills?sort=from_date', '2 Backfills');
    await expect.poll(() => column(1), EVENTUALLY).toEqual(['2026-03-01 00:00:00', '2026-03-02 00:00:00']);
    await page.getByRole('button', { name: 'Filter table columns' }).click();
    await tab.menu().getByRole('menuitemcheckbox', { name: 'Duration' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('th').filter({ hasText: 'Duration' }).count(), EVENTUALLY).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  'the provider page has what is installed, with version and description',
  async () => {
    await tab.go('/providers', 'apache-airflow-providers-orchard');
    const orchard = rows().filter({ hasText: 'providers-orchard' });
    expect(await orchard.textContent()).toContain('2.4');
    expect(await orchard.textContent()).toContain('Trees and what grows on them');
    await rows().filter({ hasText: 'providers-standard' }).waitFor();
  },
  TIMEOUT_MS,
);

it(
  'the plugin page says that there are none',
  async () => {
    await tab.go('/plugins', 'No Plugins found');
  },
  TIMEOUT_MS,
);
