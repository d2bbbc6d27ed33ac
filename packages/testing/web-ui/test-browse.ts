/** Tests of the lists under Browse and Admin, in a browser: searched, sorted and filtered as Airflow's own are. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { ADMIN, EVENTUALLY, runToEnd } from './lite-instance.ts';
import type { LiteInstance } from './lite-instance.ts';
import type { OpenUi } from './open-ui.ts';
import type { WatchedPage } from './watched-page.ts';

const TIMEOUT_MS = 400_000;
const MOMENT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
/** In the order of neither the alphabet nor its reverse. */
const PUSHED = ['pear', 'apple', 'quince'];
const HARVEST = `
from airflow.sdk import dag, task

@dag(schedule=None)
def harvest():
    @task
    def pick(ti=None):
        for key in ${JSON.stringify(PUSHED)}:
            ti.xcom_push(key=key, value=key.upper())

    pick()

harvest()
`;
const SEASONS = `
from datetime import datetime
from airflow.sdk import DAG, task

for dag_id in ("season", "weather"):
    with DAG(dag_id, schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False):
        @task
        def wait():
            pass

        wait()
`;
const PROVIDER = 'apache-airflow-providers-orchard';
/** A provider package that needs no network: a wheel is a zip of a certain form. */
const WRITE_WHEEL = `
import sys, zipfile
info = "apache_airflow_providers_orchard-2.4.dist-info"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("orchard.py", "")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: ${PROVIDER}\\nVersion: 2.4\\nSummary: Trees and what grows on them\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
/** One of somebody else, which only its entry point tells, in the interpreter of all tasks. */
const METADATA =
  'Metadata-Version: 2.1\nName: meadow-hooks\nVersion: 0.7\nSummary: Grass\nProject-URL: Documentation, https://example.org/meadow\n';
const ENTRY_POINTS = '[apache_airflow_provider]\nprovider_info=meadow_hooks:info\n';

let folder: string;
let lite: LiteInstance;
let tab: WatchedPage;
let page: Page;
let runId: string;

/** Makes the packages, and says what a lite needs for these tests. */
export async function browseNeeds(): Promise<{ dags: Record<string, string>; env: Record<string, string> }> {
  folder = mkdtempSync(join(tmpdir(), 'svc-browse-'));
  chmodSync(folder, 0o755); // tasks may run as another user
  const wheel = join(folder, 'apache_airflow_providers_orchard-2.4-py3-none-any.whl');
  const base = await pythonEnvironment();
  execFileSync(base, ['-c', WRITE_WHEEL, wheel]);
  return {
    dags: {
      'harvest/dag.py': HARVEST,
      'harvest/svc.yaml': `dependencies:\n  - ${wheel}\n`,
      'seasons.py': SEASONS,
    },
    env: { SVC_PYTHON: interpreterWithMeadow(base) },
  };
}

/** Comes before the UI is opened. */
export async function prepareBrowse({ api }: LiteInstance): Promise<void> {
  runId = await runToEnd(api, 'harvest');
  type Providers = { providers: { package_name: string }[] };
  const areKnown = async (): Promise<boolean> => {
    // Each run tells what its interpreter has, if it is known by then.
    await runToEnd(api, 'season');
    return (await api<Providers>('GET', '/providers')).providers.some((one) => one.package_name === 'meadow-hooks');
  };
  // With pauses, or the runs of a busy machine would fill the first page of every list.
  if (!(await areKnown())) await eventually(areKnown, { everyMs: 10_000, withinMs: EVENTUALLY.timeout });
}

export function testBrowse(given: () => OpenUi): void {
  describe('the lists of the web UI', () => {
    beforeAll(() => {
      ({ lite, tab, page } = given());
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    testAuditLog();
    testXComs();
    testBackfills();
    testProviders();
  });
}

const packagesOf = (one: string): string =>
  execFileSync(one, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], { encoding: 'utf8' }).trim();

/** Has everything the base has, and one provider more. */
function interpreterWithMeadow(base: string): string {
  const python = join(folder, 'python', 'bin', 'python');
  execFileSync(base, ['-m', 'venv', '--without-pip', join(folder, 'python')]);
  const packages = packagesOf(python);
  writeFileSync(join(packages, 'base.pth'), `${packagesOf(base)}\n`);
  const info = join(packages, 'meadow_hooks-0.7.dist-info');
  mkdirSync(info);
  writeFileSync(join(info, 'METADATA'), METADATA);
  writeFileSync(join(info, 'entry_points.txt'), ENTRY_POINTS);
  return python;
}

const rows = (): Locator => page.locator('tbody tr');
/** The last one has the button that chooses columns, with its name as a tooltip while it has the focus. */
const headers = async (): Promise<string[]> =>
  (await page.locator('th').allTextContents())
    .map((text) => text.replace('Filter table columns', '').trim())
    .filter((text) => text !== '');
/** The texts of one column, from above. */
const column = async (title: string): Promise<string[]> => {
  const index = (await headers()).indexOf(title) + 1;
  return (await rows().locator(`td:nth-child(${index})`).allTextContents()).map((text) => text.trim());
};
/** Once for ascending, once more for descending. */
const sortBy = (title: string): Promise<void> =>
  page
    .locator('th')
    .filter({ hasText: new RegExp(`^${title}$`) })
    .locator('button[aria-label=sort]')
    .click();
const filterBy = async (title: string, text: string, where: 'at the beginning' | 'anywhere'): Promise<void> => {
  await page.getByRole('button', { name: /^\+?\s*Filter$/ }).click();
  await page.getByRole('menuitem', { name: title }).click();
  if (where === 'anywhere') await page.getByRole('button', { name: 'Toggle match-anywhere search' }).click();
  await tab.enter(text);
  await page.keyboard.press('Enter');
};

const events = async (): Promise<string[]> => [...new Set(await column('Event'))];

function testAuditLog(): void {
  describe('the audit log', () => {
    it(
      'says who did what to which run and when',
      async () => {
        await tab.go('/events', 'trigger_dag_run');
        await tab.look('audit-log');
        const triggered = rows().filter({ hasText: 'trigger_dag_run' }).filter({ hasText: 'harvest' });
        expect((await triggered.locator('td').allTextContents()).map((text) => text.trim())).toEqual([
          expect.stringMatching(MOMENT),
          'trigger_dag_run',
          ADMIN,
          expect.any(String),
          'harvest',
          runId,
          '',
          '',
          '',
        ]);
      },
      TIMEOUT_MS,
    );

    it(
      'is searched by the beginning of an event, and by a part of it when asked',
      async () => {
        await tab.go('/events', 'trigger_dag_run');
        expect((await events()).length).toBeGreaterThan(2);
        await filterBy('Event Type', 'trigger_', 'at the beginning');
        await expect.poll(events, EVENTUALLY).toEqual(['trigger_dag_run']);
        await tab.look('audit-log-filtered');
        await page.getByRole('button', { name: 'Reset' }).click();
        await tab.settled();
        await expect.poll(() => rows().count(), EVENTUALLY).toBeGreaterThan(2);
        await filterBy('Event Type', 'dag_run', 'at the beginning');
        await expect.poll(() => rows().count(), EVENTUALLY).toBe(0);
        await page.getByRole('button', { name: 'Reset' }).click();
        await tab.settled();
        await filterBy('Event Type', 'dag_run', 'anywhere');
        await expect.poll(events, EVENTUALLY).toEqual(['trigger_dag_run', 'patch_dag_run']);
      },
      TIMEOUT_MS,
    );
  });
}

function testXComs(): void {
  describe('the list of XComs', () => {
    it(
      'is sorted by key and by time, both ways, and leads to where each comes from',
      async () => {
        await tab.go('/xcoms?dag_display_name_pattern=harvest', 'quince');
        // The first click on a title sorts upward, the second downward.
        for (const [title, order] of [
          ['timestamp', PUSHED],
          ['timestamp', PUSHED.toReversed()],
          ['Key', ['apple', 'pear', 'quince']],
          ['Key', ['quince', 'pear', 'apple']],
        ] as const) {
          await sortBy(title);
          await expect.poll(() => column('Key'), EVENTUALLY).toEqual(order);
        }
        await tab.look('xcoms');
        await expect
          .poll(() => column('Value'), EVENTUALLY)
          .toEqual(['QUINCE', 'PEAR', 'APPLE'].map((value) => expect.stringContaining(value)));
        expect(await column('Dag Run ID')).toEqual([runId, runId, runId]);
        for (const at of await column('timestamp')) expect(at).toMatch(MOMENT);
        await rows().first().getByRole('link', { name: 'pick' }).click();
        await page.waitForURL('**/dags/harvest/runs/*/tasks/pick');
        await page.getByText('Success', { exact: true }).first().waitFor();
      },
      TIMEOUT_MS,
    );
  });
}

const fill = async (dagId: string, day: string, more: object = {}): Promise<void> => {
  const date = `2026-03-${day}T00:00:00Z`;
  await lite.api('POST', '/backfills', { dag_id: dagId, from_date: date, to_date: date, ...more });
};

const isComplete = async (dagId: string): Promise<void> => {
  const open = async (): Promise<number> =>
    (await lite.api<{ total_entries: number }>('GET', `/backfills?dag_id=${dagId}&active=true`)).total_entries;
  await expect.poll(open, EVENTUALLY).toBe(0);
};

const midnight = (day: string): string => `2026-03-${day} 00:00:00`;

function testBackfills(): void {
  describe('the table of backfills', () => {
    it(
      'has those of the DAG and no others, whole, and tells of the one that is not complete until it is cancelled',
      async () => {
        await lite.api('PATCH', '/dags/season', { is_paused: false });
        await fill('weather', '09'); // its DAG is paused: it stays open
        await fill('season', '01');
        await isComplete('season');
        await fill('season', '02', { reprocess_behavior: 'failed', max_active_runs: 3 });
        await isComplete('season');
        await tab.go('/dags/season/backfills', '2 Backfills');
        await tab.look('backfills-of-season');
        expect(await column('From')).toEqual([midnight('02'), midnight('01')]);
        expect(await column('To')).toEqual([midnight('02'), midnight('01')]);
        expect(await column('Reprocess Behavior')).toEqual(['Missing and Errored Runs', 'Missing Runs']);
        expect(await column('Max Active Runs')).toEqual(['3', '10']);
        for (const at of [...(await column('Created at')), ...(await column('Completed at'))]) {
          expect(at).toMatch(MOMENT);
        }
        for (const duration of await column('Duration')) expect(duration).toMatch(/^\d\d:\d\d:\d\d/);
        expect(await page.getByText('Backfill in progress').count()).toBe(0);

        await tab.go('/dags/weather/backfills', '1 Backfill');
        await page.getByText('Backfill in progress').waitFor();
        expect(await column('From')).toEqual([midnight('09')]);
        expect(await column('Completed at')).toEqual(['']);
        await tab.look('backfills-of-weather');
        await page.getByRole('button', { name: 'Cancel backfill' }).click();
        await page.getByText('Backfill in progress').waitFor({ state: 'detached' });
        await expect.poll(() => column('Completed at'), EVENTUALLY).toEqual([expect.stringMatching(MOMENT)]);
      },
      TIMEOUT_MS,
    );

    it(
      'has only the columns that are wanted',
      async () => {
        await tab.go('/dags/season/backfills', '2 Backfills');
        const all = await headers();
        await page.getByRole('button', { name: 'Filter table columns' }).click();
        await tab.menu().getByText('Duration').click();
        await page.keyboard.press('Escape');
        await expect.poll(headers, EVENTUALLY).toEqual(all.filter((title) => title !== 'Duration'));
      },
      TIMEOUT_MS,
    );
  });
}

function testProviders(): void {
  it(
    'the provider page has what is installed in any environment of tasks, with version, description and documentation',
    async () => {
      await tab.go('/providers', PROVIDER);
      await tab.look('providers');
      expect(await column('Package Name')).toEqual([PROVIDER, 'apache-airflow-providers-standard', 'meadow-hooks']);
      expect(await column('Version')).toEqual(['2.4', '1.21.0', '0.7']);
      expect(await column('Description')).toEqual([
        'Trees and what grows on them',
        expect.stringContaining('Standard operators'),
        'Grass',
      ]);
      expect(await page.getByRole('link', { name: 'meadow-hooks' }).getAttribute('href')).toBe(
        'https://example.org/meadow',
      );
    },
    TIMEOUT_MS,
  );

  it(
    'the plugin page has only the plugin with our own pages',
    async () => {
      await tab.go('/plugins', 'Plugin');
      await expect.poll(() => rows().count(), EVENTUALLY).toBe(1);
    },
    TIMEOUT_MS,
  );
}
