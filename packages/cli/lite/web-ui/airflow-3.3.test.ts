/**
 * The unmodified web UI of Airflow 3.3 against a real lite instance, in a real browser: what it has and that of 3.2
 * has not. The pages of both are seen with the older one in `pages.test.ts`.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EVENTUALLY, runToEnd } from '@svc/testing/web-ui/lite-instance.ts';
import { openUi } from '@svc/testing/web-ui/open-ui.ts';
import type { OpenUi } from '@svc/testing/web-ui/open-ui.ts';

const TIMEOUT_MS = 400_000;
const STATES = `
from datetime import datetime
from airflow.sdk import DAG, Asset, task

lake = Asset("lake")

with DAG("states", schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False):
    @task(outlets=[lake])
    def keep(**context):
        context["task_state_store"].set("cursor", {"page": 7})
        context["asset_state_store"][lake].set("watermark", "2026-01-02")
        print("kept")

    keep()
`;

let ui: OpenUi;
let runId: string;

beforeAll(async () => {
  const contents = { examples: [], dags: { 'states.py': STATES }, env: { SVC_UI_AIRFLOW_VERSION: '3.3.2' } };
  const prepare = async ({ api }: OpenUi['lite']): Promise<void> => {
    runId = await runToEnd(api, 'states');
  };
  ui = await openUi(contents, prepare);
}, TIMEOUT_MS);

afterAll(() => ui?.close(), TIMEOUT_MS);

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await ui.tab.keepFailure(task.name);
  ui.tab.expectNoProblems();
});

describe('the web UI of Airflow 3.3', () => {
  it.each([
    ['/', 'Active Dags'],
    ['/deadlines', 'No Deadlines found'],
    ['/required_actions', 'Required Action'],
    ['/dags/states', 'keep'],
  ])(
    'page %s is shown without a refused request or an error',
    async (path, text) => {
      await ui.tab.go(path, text);
      await ui.tab.look(`newer${path}`);
    },
    TIMEOUT_MS,
  );

  it(
    'shows the log and the states of a task and of an asset, or its pages for them are useless',
    async () => {
      const { tab, lite } = ui;
      const task = `/dags/states/runs/${runId}/tasks/keep`;
      await tab.go(task, 'kept');
      await tab.go(`${task}/task-state-store`, 'cursor');
      await tab.look('newer-task-state');
      const { assets } = await lite.api<{ assets: { id: number; name: string }[] }>('GET', '/assets');
      const lake = assets.find(({ name }) => name === 'lake');
      await tab.go(`/assets/${lake?.id}/asset-state-store`, 'watermark');
      await tab.look('newer-asset-state');
    },
    TIMEOUT_MS,
  );

  it.each([
    ['plugin/fleet', 'Task delay'],
    ['dags/states/runs/RUN/plugin/why', 'Nothing failed'],
    ['dags/states/runs/RUN/tasks/keep/plugin/why-task', 'Nothing is wrong with this task'],
  ])(
    'shows our own page %s in its frame, or operators of 3.3 do not have it',
    async (path, text) => {
      await ui.tab.go(`/${path.replace('RUN', encodeURIComponent(runId))}`);
      await ui.page.frameLocator('iframe').getByText(text).first().waitFor();
      await ui.tab.look(`newer-${path}`);
    },
    TIMEOUT_MS,
  );

  it(
    'clears a run in its dialog, or what its newer dialogs send is not understood',
    async () => {
      const { tab, page, lite } = ui;
      await tab.go(`/dags/states/runs/${runId}`, 'keep');
      const confirm = tab.dialog().getByRole('button', { name: 'Confirm' });
      await tab.settled();
      await tab.pressInDialog({
        button: confirm,
        open: () => page.getByRole('button', { name: 'Press shift+c to clear' }).click(),
        sends: /^POST .*\/clear/,
      });
      const triesOf = async (): Promise<number> => {
        const path = `/dags/states/dagRuns/${encodeURIComponent(runId)}/taskInstances/keep`;
        const { state, try_number } = await lite.api<{ state: string; try_number: number }>('GET', path);
        return state === 'success' ? try_number : 0;
      };
      await expect.poll(triesOf, EVENTUALLY).toBe(2);
    },
    TIMEOUT_MS,
  );
});
