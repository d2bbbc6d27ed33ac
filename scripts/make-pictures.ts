// Takes the pictures of the documentation from the running product: a lite instance of its own with the examples, some
// runs, and a browser. `npm run pictures` after a change that shows; needs Chromium (CHROMIUM names another one).
// `npm run pictures -- why fleet` writes only these.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import type { Page } from 'playwright-core';
import { startHttpReceiver } from '@svc/testing/alerts/http-receiver.ts';
import { launchBrowser } from '@svc/testing/web-ui/browser.ts';
import { ADMIN, runEnds, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { openWatchedPage } from '@svc/testing/web-ui/watched-page.ts';
import type { WatchedPage } from '@svc/testing/web-ui/watched-page.ts';

const PICTURES = join(ROOT, 'docs', 'images');
/** They are read over the network, and stay in the history of the repository. */
const MOST_BYTES = 150_000;

/** Names of pictures. None: all. */
const WANTED = new Set(process.argv.slice(2));
/** Pictures of the editor show no runs, which take most of the time. */
const NEEDS_RUNS = WANTED.size === 0 || [...WANTED].some((name) => !name.startsWith('editor'));

type Run = { dag: string; conf?: object; ends?: 'failed' };

const BAD: Run = { dag: 'fails_on_purpose', ends: 'failed' };
const GOOD: Run = { dag: 'fails_on_purpose', conf: { folded_by: 'a professional' } };

const times = (count: number, run: Run): Run[] => Array.from({ length: count }, () => run);

/** One after the other, as they are to stand in the grid. */
const RUNS: readonly Run[] = [
  GOOD,
  BAD,
  GOOD,
  GOOD,
  BAD,
  ...times(3, GOOD),
  BAD,
  GOOD,
  ...times(4, { dag: 'rocket_launch' }),
  ...times(3, { dag: 'ml_sweep' }),
  ...times(5, { dag: 'daily_sales' }),
  ...times(4, { dag: 'branching' }),
  ...times(3, { dag: 'bash_tour' }),
  ...times(6, { dag: 'hello' }),
  ...times(3, { dag: 'fan_out' }),
  ...times(2, { dag: 'bakery_oven' }),
];
const EXAMPLES = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'duckdb_etl') // which would fetch a database first
  .map(({ name }) => name);
const FAVOURITES = ['daily_sales', 'rocket_launch', 'fails_on_purpose'];

/** A rule with a channel that works, so that the page Alerts has something to show. */
async function makeRule({ api }: LiteInstance, host: string): Promise<void> {
  await api('POST', '/connections', { connection_id: 'on_call', conn_type: 'http', host });
  const channel = { channel: 'webhook', connection_id: 'on_call' };
  await api('POST', '/alerts/rules', { name: 'failures', events: ['failed', 'recovered'], ...channel });
}

/** The id of the last run of each DAG. */
async function makeRuns(lite: LiteInstance): Promise<Map<string, string>> {
  const last = new Map<string, string>();
  for (const { dag, conf = {}, ends } of RUNS) {
    await lite.api('PATCH', `/dags/${dag}`, { is_paused: false });
    const { dag_run_id: id } = await lite.api<{ dag_run_id: string }>('POST', `/dags/${dag}/dagRuns`, { conf });
    await runEnds(lite.api, dag, id, ends);
    last.set(dag, id);
  }
  return last;
}

async function take(page: Page, name: string): Promise<void> {
  if (WANTED.size > 0 && !WANTED.has(name)) return;
  // Charts and graphs move until they are there, and the UI polls all the time: neither tells when it has ended.
  await page.waitForTimeout(2_500);
  const picture = PNG.sync.read(await page.screenshot({ animations: 'disabled' }));
  // Areas of one colour get a fifth smaller than the browser makes them when nothing is filtered. 2: no transparency.
  const bytes = PNG.sync.write(picture, { colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 });
  writeFileSync(join(PICTURES, `${name}.png`), bytes);
  console.log(`docs/images/${name}.png ${Math.round(bytes.length / 1_000)} kB`);
  if (bytes.length > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES} bytes: show less`);
}

/** Left, where grid and graph are; it shows two runs unless somebody makes room. */
async function widenLeftPanel(page: Page): Promise<void> {
  const handle = page.locator('[data-panel-resize-handle-id], [role=separator]').first();
  const box = await handle.boundingBox();
  if (!box) throw new Error('there is no handle between the panels');
  await page.mouse.move(box.x + 1, 500);
  await page.mouse.down();
  await page.mouse.move(560, 500, { steps: 8 });
  await page.mouse.up();
}

async function takeAll(tab: WatchedPage, lite: LiteInstance, last: Map<string, string>): Promise<void> {
  const { page } = tab;
  await page.goto(`${lite.url}/auth/login`);
  await page.fill('input[name=username]', ADMIN);
  await take(page, 'login');
  await tab.signIn({ username: ADMIN, password: lite.password });
  if (NEEDS_RUNS) await takeRuns(tab, lite, last);

  await page.goto(`${lite.url}/ide`);
  await page.waitForSelector('html[data-ready]');
  await takeEditorTest(page);
  await takeEditor(page);
}

async function takeRuns(tab: WatchedPage, lite: LiteInstance, last: Map<string, string>): Promise<void> {
  const { page } = tab;
  await tab.visit('/', 'Active Dags');
  await take(page, 'home');
  await tab.visit('/dags', 'rocket_launch');
  await take(page, 'dags');
  await tab.visit('/dags/fails_on_purpose', 'check_the_parachute');
  await widenLeftPanel(page);
  await take(page, 'dag');
  const runOf = (dag: string): string => `/dags/${dag}/runs/${encodeURIComponent(last.get(dag) ?? '')}`;
  // Not the log of a failure: a stack trace has the paths of the machine in it.
  await tab.visit(`${runOf('ml_sweep')}/tasks/draw`, /sees the world like this/);
  await take(page, 'log');

  await tab.visit(runOf('rocket_launch'), 'countdown');
  await page.getByRole('button', { name: /Show Graph/ }).click();
  await page.getByRole('button', { name: 'Expand all task groups' }).click();
  await take(page, 'graph');

  await makeFailure(lite, last);
  await tab.visit(`${runOf('fails_on_purpose')}/plugin/why`, 'Why');
  await page.frameLocator('iframe').getByText('What failed').waitFor();
  await take(page, 'why');
  await tab.visit('/dags/fails_on_purpose/plugin/cost', 'Cost');
  await page.frameLocator('iframe').getByRole('cell', { name: 'climb' }).waitFor();
  await take(page, 'cost');
  await tab.visit('/plugin/alerts');
  await page.frameLocator('iframe').getByRole('table').first().waitFor();
  await page.frameLocator('iframe').locator('summary').first().click();
  await take(page, 'alerts');
  await tab.visit('/plugin/fleet');
  await page.frameLocator('iframe').getByRole('table').first().waitFor();
  await take(page, 'fleet');
}

/** The newest run is then a failed one. */
async function makeFailure({ api }: LiteInstance, last: Map<string, string>): Promise<void> {
  const { dag_run_id: id } = await api<{ dag_run_id: string }>('POST', `/dags/${BAD.dag}/dagRuns`, {});
  await runEnds(api, BAD.dag, id, 'failed');
  last.set(BAD.dag, id);
}

/** A task gets the value of the one before it, and fails. */
async function takeEditorTest(page: Page): Promise<void> {
  await page.locator('.row[data-path=fails_on_purpose]').click();
  await page.locator('.row[data-path="fails_on_purpose/dag.py"]').click();
  const lens = (name: string) => page.locator('.codelens-decoration a').filter({ hasText: name }).first();
  for (const [line, task, state] of [
    [24, 'climb', 'success'],
    [29, 'check_the_parachute', 'failed'],
  ] as const) {
    await page.evaluate(`monaco.editor.getEditors()[0].revealLineInCenter(${line})`);
    await lens(`▶ Test ${task}`).click();
    await page.locator(`#test [data-result=${task}][data-state=${state}]`).waitFor();
  }
  await page.locator('#test summary').filter({ hasText: 'Log' }).click(); // a stack trace has paths of the machine
  const size = page.viewportSize();
  await page.setViewportSize({ width: 1_100, height: 720 }); // text makes large pictures
  await page.evaluate(
    `monaco.editor.getEditors()[0].setScrollTop(monaco.editor.getEditors()[0].getTopForLineNumber(23))`,
  );
  await take(page, 'editor-test');
  if (size) await page.setViewportSize(size);
}

/** With a mistake of the kind that people make, at its line. */
async function takeEditor(page: Page): Promise<void> {
  await page.locator('.row[data-path=fan_out]').click();
  await page.locator('.row[data-path="fan_out/dag.py"]').click();
  await page.locator('.monaco-editor .view-lines').click();
  await page.evaluate(`(() => {
    const editor = monaco.editor.getEditors()[0];
    const text = editor.getValue();
    const at = text.split('\\n').findIndex((line) => line.includes('.expand('));
    const column = text.split('\\n')[at].indexOf('.expand(') + 1;
    editor.executeEdits('', [{ range: new monaco.Range(at + 1, column, at + 1, column + 7), text: '.expnad' }]);
    editor.setPosition({ lineNumber: at + 1, column });
  })()`);
  await page.keyboard.press('Control+S');
  await page.locator('.outcome .line.error').waitFor();
  await take(page, 'editor');
}

mkdirSync(PICTURES, { recursive: true });
const receiver = await startHttpReceiver();
const SETTINGS = {
  SVC_ALERTS_ALLOW_PRIVATE_ADDRESSES: 'true',
  SVC_COST_CPU_HOUR: '0.04',
  SVC_COST_GIB_HOUR: '0.005',
};
const lite = await startLite({ examples: EXAMPLES, env: SETTINGS });
try {
  await makeRule(lite, receiver.url);
  const last = NEEDS_RUNS ? await makeRuns(lite) : new Map<string, string>();
  for (const dag of FAVOURITES) await lite.api('POST', `/dags/${dag}/favorite`);
  const browser = await launchBrowser();
  try {
    const tab = await openWatchedPage(browser, lite.url);
    await tab.page.emulateMedia({ colorScheme: 'light' });
    await takeAll(tab, lite, last);
    tab.expectNoProblems();
  } finally {
    await browser.close();
  }
} finally {
  await lite.stop();
  await receiver.close();
}
