/**
 * The unmodified web UI of Airflow 3.2 by choice, against a real lite instance, in a real browser: it loads, shows data and
 * our own pages, and its dialogs work. At night all tests of the default version run with this one (CONTRIBUTING.md).
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EVENTUALLY, runToEnd } from '@svc/testing/web-ui/lite-instance.ts';
import { openUi } from '@svc/testing/web-ui/open-ui.ts';
import type { OpenUi } from '@svc/testing/web-ui/open-ui.ts';
import { CLEAR, envOf } from '@svc/testing/web-ui/ui-version.ts';

const TIMEOUT_MS = 400_000;

let ui: OpenUi;
let runId: string;

beforeAll(async () => {
  ui = await openUi({ examples: ['hello'], env: envOf('3.2.2') }, async ({ api }) => {
    runId = await runToEnd(api, 'hello');
  });
}, TIMEOUT_MS);

afterAll(() => ui?.close(), TIMEOUT_MS);

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await ui.tab.keepFailure(task.name);
  ui.tab.expectNoProblems();
});

describe('the web UI of Airflow 3.2', () => {
  it.each([
    ['/', 'Active Dags'],
    ['/dags/hello', 'greet'],
    ['/required_actions', 'Required Action'],
    ['/dags/hello/runs/RUN/tasks/shout', 'HELLO, WORLD!'],
  ])(
    'page %s is shown without a refused request or an error',
    async (path, text) => {
      await ui.tab.go(path.replace('RUN', runId), text);
      await ui.tab.look(`older${path}`);
    },
    TIMEOUT_MS,
  );

  it.each([
    ['plugin/fleet', 'Task delay'],
    ['dags/hello/runs/RUN/plugin/why', 'Nothing failed'],
    ['dags/hello/runs/RUN/tasks/shout/plugin/why-task', 'Nothing is wrong with this task'],
  ])(
    'shows our own page %s in its frame, or operators of 3.2 do not have it',
    async (path, text) => {
      await ui.tab.go(`/${path.replace('RUN', encodeURIComponent(runId))}`);
      await ui.page.frameLocator('iframe').getByText(text).first().waitFor();
      await ui.tab.look(`older-${path}`);
    },
    TIMEOUT_MS,
  );

  it(
    'has the badge of the edition, and links to the documentation of its own version',
    async () => {
      const { tab, page } = ui;
      await tab.go('/dags', 'hello');
      expect(await page.locator('#svc-corner .svc-lite').textContent()).toBe('LITE');
      await page.getByRole('button', { name: 'Docs' }).click();
      const link = page.locator('a[href*="docs/apache-airflow/"]');
      await link.hover();
      expect(await link.getAttribute('href')).toBe('https://airflow.apache.org/docs/apache-airflow/3.2.2/index.html');
      await page.keyboard.press('Escape');
    },
    TIMEOUT_MS,
  );

  it(
    'clears a run in its dialog, or what its older dialogs send is not understood',
    async () => {
      const { tab, page, lite } = ui;
      await tab.go(`/dags/hello/runs/${runId}`, 'greet');
      const confirm = tab.dialog().getByRole('button', { name: 'Confirm' });
      await tab.settled();
      await tab.pressInDialog({
        button: confirm,
        // The first button is that of the run, the others are those of its tasks.
        open: () => page.getByRole('button', { name: CLEAR }).first().click(),
        sends: /^POST .*\/clear/,
      });
      const triesOf = async (): Promise<number> => {
        const path = `/dags/hello/dagRuns/${encodeURIComponent(runId)}/taskInstances/shout`;
        const { state, try_number } = await lite.api<{ state: string; try_number: number }>('GET', path);
        return state === 'success' ? try_number : 0;
      };
      await expect.poll(triesOf, EVENTUALLY).toBe(2);
    },
    TIMEOUT_MS,
  );
});
