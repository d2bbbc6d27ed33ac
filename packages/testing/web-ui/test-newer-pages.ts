/** Tests of the pages that the web UI of Airflow has since 3.3, in a browser: deadlines, and the states of tasks and assets. */
import { beforeAll, describe, it } from 'vitest';
import { runToEnd } from './lite-instance.ts';
import type { LiteInstance } from './lite-instance.ts';
import type { OpenUi } from './open-ui.ts';

const TIMEOUT_MS = 400_000;
const STATES = `
from datetime import datetime, timedelta
from airflow.sdk import DAG, Asset, AsyncCallback, DeadlineAlert, DeadlineReference, task

lake = Asset("lake")
too_late = DeadlineAlert(
    name="far too late",
    reference=DeadlineReference.DAGRUN_QUEUED_AT,
    interval=timedelta(milliseconds=1),
    callback=AsyncCallback("late_callbacks.late"),
)

with DAG("states", schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False, deadline=too_late):
    @task(outlets=[lake])
    def keep(**context):
        context["task_state_store"].set("cursor", {"page": 7})
        context["asset_state_store"][lake].set("watermark", "2026-01-02")
        print("kept")

    keep()
`;

const LATE = 'async def late(**kwargs):\n    print("late")\n';

/** What a lite needs for these tests. */
export const NEWER_NEED = { 'states.py': STATES, 'late_callbacks.py': LATE };

let runId: string;

/** Comes before the UI is opened, which then need not be loaded again. */
export async function prepareNewerPages({ api }: LiteInstance): Promise<void> {
  runId = await runToEnd(api, 'states');
}

export function testNewerPages(given: () => OpenUi): void {
  describe('pages that are new in Airflow 3.3', () => {
    let ui: OpenUi;
    beforeAll(() => {
      ui = given();
    });

    it.each([
      ['/', 'Missed Deadlines'],
      ['/deadlines', 'far too late'],
      ['/dags/states', '1 deadline'],
    ])(
      'page %s shows a deadline that was missed, or the missed one stays unseen',
      async (path, text) => {
        await ui.tab.go(path, text);
        await ui.tab.look(`newer${path}`);
      },
      TIMEOUT_MS,
    );

    it(
      'show the log and the states of a task and of an asset, or its pages for them are useless',
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
  });
}
