/** The editor in a real browser against a real lite instance: from an empty file to a run that has succeeded, and tests. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { keepPicture, launchBrowser, newPage, openPage } from '@svc/testing/web-ui/browser.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { wheelEnvironment } from '@svc/testing/wheel-environment.ts';

const PATIENCE = { timeout: 100_000 };
const SALES = `import os, time
from airflow.sdk import dag, task


@dag(schedule=None)
def sales():
    @task
    def extract(ti=None):
        print("extracting")
        ti.xcom_push("count", 2)
        return [{"amount": 1}, {}]

    @task
    def load(row):
        return row["amount"]

    @task
    def who():
        return [os.getuid(), [name for name in os.environ if name.startswith("SVC_")]]

    @task
    def wait():
        print("pid", os.getpid(), flush=True)
        time.sleep(10_000)

    load.expand(row=extract()) >> [who(), wait()]


sales()
`;
const TESTS = `from airflow.models import DagBag


def test_loads():
    assert DagBag("shop/sales.py").import_errors == {}


def test_load(run_task):
    task = DagBag("shop/sales.py").get_dag("sales").get_task("load")
    assert run_task(task, map_index=0, xcoms={"extract": [{"amount": 3}]}).xcom == 4
`;

let lite: LiteInstance;
let workspace: string;
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  const dags = { 'shop/sales.py': SALES, 'tests/test_sales.py': TESTS };
  const env = { SVC_PYTHON: await wheelEnvironment() };
  [lite, browser] = await Promise.all([startLite({ examples: ['hello'], dags, env }), launchBrowser()]);
  workspace = join(lite.directory, 'workspace');
  // Provoked: no session at first, and a save over a file that has changed.
  ({ page, problems } = await openPage(browser, [401, 412]));
  page.setDefaultTimeout(PATIENCE.timeout);
  await page.setViewportSize({ width: 1_400, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
}, 400_000);

afterAll(async () => {
  await browser?.close();
  await lite?.stop();
});

async function logIn(on: Page, username: string, secret: string): Promise<void> {
  await on.waitForURL('**/auth/login?next=*');
  await on.fill('input[name=username]', username);
  await on.fill('input[name=password]', secret);
  await on.click('button[type=submit]');
}

const isReady = (on: Page): Promise<unknown> => on.waitForSelector('html[data-ready]');
const shot = (name: string): Promise<void> => keepPicture(page, `editor-${name}`);
const onDisk = (...parts: string[]): string => readFileSync(join(workspace, ...parts), 'utf8');
/** `path:line message` of what the code editor itself shows. */
const markers = (): Promise<string[]> =>
  page.evaluate(
    `monaco.editor.getModelMarkers({}).map((m) => m.resource.path + ':' + m.startLineNumber + ' ' + m.message)`,
  );

const text = (): Promise<string> => page.evaluate(`monaco.editor.getEditors()[0].getValue()`);

/** At the very beginning of the file, so that nothing is indented by itself. */
async function typeFirstLine(text: string): Promise<void> {
  await page.locator('.monaco-editor .view-lines').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type(`${text}\n`);
}

async function removeFirstLine(): Promise<void> {
  await page.locator('.monaco-editor .view-lines').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Delete');
}

describe('a new DAG', () => {
  it('begins with the button in the web UI, and a template', async () => {
    await page.goto(`${lite.url}/dags`);
    await logIn(page, ADMIN, lite.password);
    await page.getByRole('link', { name: 'Edit DAGs' }).click();
    await page.waitForURL('**/ide');
    await isReady(page);
    await page.locator('.row[data-path=hello]').waitFor();
    await shot('start');
    await page.getByRole('button', { name: 'New file' }).first().click();
    await page.getByLabel('Path in the workspace').fill('first/dag.py');
    await shot('new-file');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('.tab[data-path="first/dag.py"]').waitFor();
    await page.locator('.outcome .line.success').waitFor();
    expect(onDisk('first', 'dag.py')).toContain('@dag(dag_id="first"');
    await expect.poll(markers, PATIENCE).toEqual([]);
  }, 400_000);

  it('shows a mistake at its line right after it is saved, with what is wrong', async () => {
    await typeFirstLine('import nothing_like_this');
    await page.locator('.tab.dirty').waitFor();
    expect(await page.title()).toMatch(/^● /);
    await page.keyboard.press('Control+S');
    const line = page.locator('.outcome .line.error');
    await line.waitFor();
    expect(await line.locator('.place').textContent()).toBe('first/dag.py:1');
    expect(await line.locator('.message').textContent()).toContain('nothing_like_this');
    await expect.poll(markers, PATIENCE).toEqual([expect.stringMatching(/^\/first\/dag\.py:1 .*nothing_like_this/)]);
    await page.locator('.squiggly-error').first().waitFor();
    await page.locator('.row[data-path="first/dag.py"] .mark.error').waitFor();
    await expect.poll(() => page.locator('.tab.dirty').count(), PATIENCE).toBe(0);
    expect(onDisk('first', 'dag.py')).toMatch(/^import nothing_like_this\n/);
    await shot('error');
  }, 400_000);

  it('is mended, and leads to its page', async () => {
    await removeFirstLine();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.outcome .line.success').waitFor();
    await expect.poll(markers, PATIENCE).toEqual([]);
    await expect.poll(() => page.locator('.mark.error').count(), PATIENCE).toBe(0);
    expect(await page.locator('#dag-link').getAttribute('href')).toBe(`${lite.url}/dags/first`);
    expect(problems).toEqual([]);
  }, 400_000);

  it('is run, and succeeds', async () => {
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.outcome [data-state=success]').waitFor();
    await shot('run');
    await page.locator('.run-link').click();
    await page.waitForURL('**/dags/first/runs/manual__*');
    await page.getByText('numbers').first().waitFor();
    expect(problems).toEqual([]);
  }, 400_000);
});

describe('a file', () => {
  beforeAll(async () => {
    await page.goto(`${lite.url}/ide?path=hello/dag.py`);
    await isReady(page);
    await page.locator('.tab[data-path="hello/dag.py"][aria-selected="true"]').waitFor();
  }, 400_000);

  it('is highlighted as what it is, Python or YAML', async () => {
    const colours = async (): Promise<number> => {
      await page.locator('.view-line span span[class*="mtk"]').first().waitFor();
      return page.evaluate(
        `new Set([...document.querySelectorAll('.view-line span span')].map((node) => node.className)).size`,
      );
    };
    await expect.poll(colours, PATIENCE).toBeGreaterThan(3);
    expect(await page.locator('#status-language').textContent()).toBe('python');
    await page.locator('.row[data-path="hello/svc.yaml"]').click();
    await page.locator('.tab[data-path="hello/svc.yaml"][aria-selected="true"]').waitFor();
    await expect.poll(colours, PATIENCE).toBeGreaterThan(1);
    expect(await page.locator('#status-language').textContent()).toBe('yaml');
  }, 400_000);

  it('of a project shows the problems of its svc.yaml at their line there', async () => {
    await page.locator('.monaco-editor .view-lines').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nno_such_key: 1\n');
    await page.keyboard.press('Control+S');
    await page.locator('.outcome .line').filter({ hasText: 'no_such_key' }).first().waitFor();
    const lines = onDisk('hello', 'svc.yaml').split('\n');
    const line = lines.findIndex((text) => text.startsWith('no_such_key')) + 1;
    await expect.poll(markers, PATIENCE).toEqual([expect.stringContaining(`/hello/svc.yaml:${line} `)]);
    writeFileSync(join(workspace, 'hello', 'svc.yaml'), readFileSync(join(ROOT, 'examples', 'hello', 'svc.yaml')));
    await page.getByRole('button', { name: 'Read the folder again' }).click();
    await expect.poll(text, PATIENCE).not.toContain('no_such_key');
  }, 400_000);

  it('that somebody else has saved is not overwritten without a word', async () => {
    await page.locator('.tab[data-path="first/dag.py"]').click();
    await page.locator('.tab[data-path="first/dag.py"][aria-selected="true"]').waitFor();
    await typeFirstLine('# mine');
    const theirs = `# theirs\n${onDisk('first', 'dag.py')}`;
    writeFileSync(join(workspace, 'first', 'dag.py'), theirs);
    await page.keyboard.press('Control+S');
    await page.getByRole('heading', { name: 'first/dag.py has changed on disk' }).waitFor();
    expect(onDisk('first', 'dag.py')).toBe(theirs);
    await shot('conflict');
    await page.getByRole('button', { name: 'Load theirs' }).click();
    await expect.poll(text, PATIENCE).toContain('# theirs');
    await expect.poll(() => page.locator('.tab.dirty').count(), PATIENCE).toBe(0);
  }, 400_000);

  it('is renamed and deleted from the tree', async () => {
    await page.locator('.row[data-path="first/dag.py"]').focus();
    await page.keyboard.press('F2');
    await page.getByLabel('New path').fill('../out.py');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'must not contain' }).waitFor();
    await page.getByLabel('New path').fill('plain.py');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.locator('.tab[data-path="plain.py"][aria-selected="true"]').waitFor();
    expect(existsSync(join(workspace, 'first', 'dag.py'))).toBe(false);
    expect(onDisk('plain.py')).toContain('dag_id="first"');
    await page.locator('.row[data-path="plain.py"]').focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.locator('.row[data-path="plain.py"]').waitFor({ state: 'detached' });
    expect(existsSync(join(workspace, 'plain.py'))).toBe(false);
    problems.splice(0, problems.length, ...problems.filter((text) => !text.includes('400'))); // the name that was refused
    expect(problems).toEqual([]);
  }, 400_000);

  it('is dark where the system is', async () => {
    const shade = (): Promise<string> => page.evaluate(`getComputedStyle(document.body).backgroundColor`);
    expect(await shade()).toBe('rgb(255, 255, 255)');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(shade, PATIENCE).toBe('rgb(12, 20, 32)');
    await page.locator('.monaco-editor.vs-dark').first().waitFor();
    await shot('dark');
  }, 400_000);
});

describe('a test from the editor', () => {
  const panel = () => page.locator('#test');
  const lens = (name: string) => page.locator('.codelens-decoration a').filter({ hasText: name }).first();
  /** The text scrolls, and lenses of lines that are not shown have no place. */
  const press = async (line: number, name: string): Promise<void> => {
    await page.evaluate(`monaco.editor.getEditors()[0].revealLineInCenter(${line})`);
    await lens(name).click();
  };

  beforeAll(async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${lite.url}/ide?path=shop/sales.py`);
    await isReady(page);
  }, 240_000);

  it('runs a task from its line, with the value of the task before it, and marks the line that failed', async () => {
    await press(7, '▶ Test extract');
    await panel().locator('[data-result=extract][data-state=success]').waitFor();
    expect(await panel().locator('.xcom').allTextContents()).toEqual(['count = 2', 'return_value = [{"amount":1},{}]']);
    expect(await panel().locator('pre').textContent()).toContain('extracting');
    await press(13, '▶ Test load');
    await panel().locator('[data-result="load[1]"][data-state=failed]').waitFor();
    expect(await markers()).toEqual([`/shop/sales.py:15 load[1]: KeyError: 'amount'`]);
    await page.locator('.test-error').filter({ hasText: "KeyError: 'amount'" }).waitFor();
    await lens('✕ failed').waitFor();
    await shot('task-failed');
    await panel().locator('summary').filter({ hasText: 'Values' }).click();
    await panel().getByLabel('Values for the test').fill('{"xcoms": {"extract": [{"amount": 9}]}}');
    await panel().getByRole('button', { name: 'Run again' }).click();
    await panel().locator('[data-result="load[0]"]').filter({ hasText: 'return_value = 9' }).waitFor();
    expect(await markers()).toEqual([]);
    expect(problems).toEqual([]);
  }, 240_000);

  it('stops a task that runs', async () => {
    await press(21, '▶ Test wait');
    await panel().locator('pre').filter({ hasText: 'pid' }).waitFor();
    await panel().getByRole('button', { name: 'Stop' }).click();
    await page.locator('#test[data-state=stopped]').waitFor();
    expect(problems).toEqual([]);
  }, 240_000);

  it('runs the tests of a DAG file, and shows each one at its own line', async () => {
    await press(1, '▶ Run the tests of this DAG file');
    await panel().locator('[data-result="tests/test_sales.py::test_loads"][data-state=success]').waitFor();
    await panel().getByRole('button', { name: 'tests/test_sales.py:10' }).click();
    await page.locator('.tab[data-path="tests/test_sales.py"][aria-selected="true"]').waitFor();
    await lens('✓ success').waitFor();
    expect(await markers()).toEqual([expect.stringMatching(/^\/tests\/test_sales\.py:10 .*assert 3 == 4/)]);
    await shot('tests');
    expect(problems).toEqual([]);
  }, 240_000);
});

describe('the API for tests from the editor', () => {
  type Test = { state: string; problem: string | null; log: string; results: { xcoms: { json: string }[] }[] };
  const start = (body: object): Promise<Test> => lite.api('POST', '/ide/test', body);
  const latest = async (): Promise<Test> => (await lite.api<{ test: Test }>('GET', '/ide/test')).test;
  const run = { kind: 'run', path: 'shop/sales.py', dag_id: 'sales' };
  const eventualTest = async (isWanted: (test: Test) => boolean): Promise<Test> => {
    await expect.poll(latest, PATIENCE).toSatisfy(isWanted);
    return latest();
  };

  it('runs the code as the user of tasks, without the settings of lite, and stores no run', async () => {
    await start({ ...run, task_id: 'who' });
    const { results } = await eventualTest(({ state }) => state === 'success');
    const [uid, settings] = JSON.parse(results[0]?.xcoms[0]?.json ?? '[]') as [number, string[]];
    expect(settings.sort()).toEqual(['SVC_DAGS_FOLDER', 'SVC_NODE', 'SVC_PROJECT_ROOT']);
    // Root would be the user of lite, with its secrets.
    expect(uid).not.toBe(0);
    expect(await lite.api('GET', '/dags/sales/dagRuns')).toMatchObject({ total_entries: 0 });
    expect(await lite.api('GET', '/eventLogs?event=post_workspace_test&limit=1')).toMatchObject({
      event_logs: [{ event: 'post_workspace_test' }],
    });
  }, 240_000);

  it('has one test of a user at a time, and its processes have ended when the stop is answered', async () => {
    await start({ ...run, task_id: 'wait' });
    const { log } = await eventualTest((test) => test.log.includes('pid'));
    const pid = /pid (\d+)/.exec(log)?.[1] ?? '';
    expect(existsSync(`/proc/${pid}`)).toBe(existsSync('/proc'));
    await expect(start({ ...run, task_id: 'who' })).rejects.toThrow(/409 .*your test of wait is running/);
    await lite.api('DELETE', '/ide/test');
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(await latest()).toMatchObject({ state: 'stopped', results: [] });
    await expect(lite.api('DELETE', '/ide/test')).rejects.toThrow(/404 .*no test of yours is running/);
  }, 240_000);

  it('says what there is when something else is asked for', async () => {
    const refusals = [
      [{ ...run, task_id: 'lod' }, /404 .*sales has no task lod.*extract, load/],
      [{ ...run, dag_id: 'hello' }, /404 .*shop\/sales.py has no DAG hello that compiles/],
      [{ ...run, path: 'gone.py' }, /404 .*there is no gone.py/],
      [{ kind: 'pytest', path: 'hello/dag.py', test: 'test_x' }, /404 .*hello\/dag.py has no tests/],
    ] as const;
    for (const [body, message] of refusals) await expect(start(body)).rejects.toThrow(message);
    await start({ kind: 'pytest', path: 'tests/test_sales.py', test: 'test_gone' });
    const none = await eventualTest(({ state }) => state === 'failed');
    expect(none.problem).toContain('pytest has run no test');
    expect(none.log).toContain('test_gone');
  }, 240_000);
});

it('tells a viewer that editing is not for viewers, and shows no file', async () => {
  const viewer = { email: 'viewer@example.com', password: 'correct horse battery', roles: ['viewer'] };
  await lite.api('POST', '/users', viewer);
  const theirs = await newPage(browser);
  theirs.setDefaultTimeout(PATIENCE.timeout);
  await theirs.goto(`${lite.url}/ide?path=hello/dag.py`);
  await logIn(theirs, viewer.email, viewer.password);
  await isReady(theirs);
  await theirs.getByText('missing permission write:dag').waitFor();
  expect(await theirs.locator('.row').count()).toBe(0);
  expect(await theirs.locator('.tab').count()).toBe(0);
  await theirs.context().close();
}, 400_000);
