/** What people do with runs in the web UI, in a real browser on a real lite instance: start, watch, clear, mark, fill in; and what they keep besides runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually } from '@svc/testing/eventually.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, EVENTUALLY, runEnds, runToEnd } from '@svc/testing/web-ui/lite-instance.ts';
import type { Api } from '@svc/testing/server/api-caller.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { openUi } from '@svc/testing/web-ui/open-ui.ts';
import type { OpenUi } from '@svc/testing/web-ui/open-ui.ts';
import { SETTINGS_NEED, prepareSettings, testSettings } from '@svc/testing/web-ui/test-settings.ts';
import { CLEAR, NOTE, UI_VERSION, envOf, fillMoment } from '@svc/testing/web-ui/ui-version.ts';
import type { WatchedPage } from '@svc/testing/web-ui/watched-page.ts';

type Instance = { task_id: string; state: string | null; try_number: number; note: string | null };
type Run = { dag_run_id: string; state: string; conf: Record<string, unknown>; note: string | null };

/** Says one thing, waits for the test, says another, and waits again. */
const LIGHTHOUSE = `
from pathlib import Path
from time import sleep

from airflow.sdk import dag, task

@dag(schedule=None)
def lighthouse():
    @task
    def shine():
        def until(time):
            while not (Path(__file__).parent / time).exists():
                sleep(0.2)

        print("the lamp is lit")
        until("morning")
        print("the lamp is out")
        until("noon")

    shine()

lighthouse()
`;
/** Asks a person. */
const RELEASE = `
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
const AUDITED = ['post_clear_task_instances', 'patch_task_instance', 'patch_dag_run', 'delete_dag_run'];
const TIMEOUT_MS = 400_000;

let ui: OpenUi;
let lite: LiteInstance;
let tab: WatchedPage;
let page: Page;
/** Its task waits for an answer. */
let questionRunId: string;

beforeAll(async () => {
  ui = await openUi(
    {
      examples: ['hello', 'pizza_order', 'moon_phases', ...SETTINGS_NEED.examples],
      dags: { 'lighthouse/dag.py': LIGHTHOUSE, 'release/dags/release.py': RELEASE, ...SETTINGS_NEED.dags },
      env: { ...SETTINGS_NEED.env, ...envOf(UI_VERSION) },
    },
    async (started) => {
      questionRunId = await untilItAsks(started.api);
      await prepareSettings(started);
    },
  );
  ({ lite, tab, page } = ui);
}, TIMEOUT_MS);

afterAll(() => ui?.close(), TIMEOUT_MS);

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await tab.keepFailure(task.name);
  tab.expectNoProblems();
});

const instancesOf = async (dagId: string, runId: string): Promise<Instance[]> => {
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances`;
  return (await lite.api<{ task_instances: Instance[] }>('GET', path)).task_instances;
};
const statesOf = async (dagId: string, runId: string): Promise<Record<string, string | null>> =>
  Object.fromEntries((await instancesOf(dagId, runId)).map((instance) => [instance.task_id, instance.state]));
/** As the UI writes it: ids are not escaped. */
const runPath = (dagId: string, runId: string, rest = ''): string => `/dags/${dagId}/runs/${runId}${rest}`;

async function untilItAsks(api: Api): Promise<string> {
  await api('PATCH', '/dags/release', { is_paused: false });
  const { dag_run_id: runId } = await api<Run>('POST', '/dags/release/dagRuns', {});
  const waiting = '/dags/~/dagRuns/~/hitlDetails?state=deferred&response_received=false';
  const asks = async (): Promise<boolean> => (await api<{ total_entries: number }>('GET', waiting)).total_entries === 1;
  await eventually(asks, { everyMs: EVENTUALLY.interval, withinMs: EVENTUALLY.timeout });
  return runId;
}

/** Whatever happens from here on happens in the page as it is: a reload would forget the mark. */
const markPage = (): Promise<void> => page.evaluate('globalThis.isSamePage = true');
const isSamePage = (): Promise<unknown> => page.evaluate('globalThis.isSamePage');

describe('starting a run', () => {
  it(
    'takes the params of the form, and shows the run live until it is over',
    async () => {
      await tab.go('/dags/pizza_order', 'receipt');
      await markPage();
      const form = tab.dialog();
      const field = (label: string) => form.getByRole('group').filter({ hasText: label }).last();
      await tab.pressInDialog({
        button: form.getByRole('button', { name: 'Trigger' }),
        open: () => page.getByRole('button', { name: 'Trigger' }).first().click(),
        async fill() {
          await field('Your name').getByRole('textbox').fill('Grace Hopper');
          await form.getByRole('button', { name: 'Delivery' }).click();
          await field('How many').getByRole('spinbutton').fill('3');
          await tab.look('trigger-form');
        },
        sends: /^POST .*\/dagRuns$/,
      });
      await page.waitForURL('**/dags/pizza_order/runs/*');
      // The run and its three tasks.
      await expect.poll(() => page.getByText('Success', { exact: true }).count(), EVENTUALLY).toBeGreaterThan(3);
      await tab.look('triggered');
      await page.locator('a[href$="/tasks/receipt"]').last().click();
      await page.getByText('For Grace Hopper').first().waitFor();
      expect(await isSamePage()).toBe(true);
      const [run] = (await lite.api<{ dag_runs: Run[] }>('GET', '/dags/pizza_order/dagRuns')).dag_runs;
      expect(run).toMatchObject({ state: 'success', conf: { name: 'Grace Hopper', how_many: 3, size: 'medium' } });
    },
    TIMEOUT_MS,
  );

  it(
    'shows the log of a running task line by line',
    async () => {
      await lite.api('PATCH', '/dags/lighthouse', { is_paused: false });
      const { dag_run_id: runId } = await lite.api<Run>('POST', '/dags/lighthouse/dagRuns', {});
      await tab.go(runPath('lighthouse', runId, '/tasks/shine'));
      await page.getByText('the lamp is lit').first().waitFor();
      expect(await statesOf('lighthouse', runId)).toEqual({ shine: 'running' });
      expect(await page.getByText('the lamp is out').count()).toBe(0);
      await markPage();
      await tab.look('live-log');
      const becomes = (time: string): void => writeFileSync(join(lite.directory, 'workspace', 'lighthouse', time), '');
      becomes('morning');
      await page.getByText('the lamp is out').first().waitFor();
      // Only then: the UI asks for no more of the log once it has heard, by another call, that the task has ended.
      expect(await statesOf('lighthouse', runId)).toEqual({ shine: 'running' });
      becomes('noon');
      await page.getByText('Success', { exact: true }).first().waitFor();
      expect(await isSamePage()).toBe(true);
    },
    TIMEOUT_MS,
  );
});

describe('changing a run', () => {
  let runId: string;
  beforeAll(async () => {
    runId = await runToEnd(lite.api, 'hello');
  }, TIMEOUT_MS);

  it(
    'clears a task and what follows it, as the preview said, and runs both again',
    async () => {
      await tab.go(runPath('hello', runId, '/tasks/greet'), 'Returned value was');
      await tab.pressInDialog({
        button: tab.dialog().getByRole('button', { name: 'Confirm' }),
        open: () => page.getByRole('button', { name: CLEAR }).first().click(),
        async fill() {
          await tab.dialog().getByText('Affected Tasks: 2').waitFor();
          await tab.dialog().getByRole('cell', { name: 'shout' }).waitFor();
          await tab.look('clear-task');
        },
        sends: /^POST .*\/clearTaskInstances$/,
      });
      await tab.dialog().waitFor({ state: 'detached' });
      await expect
        .poll(
          async () => (await instancesOf('hello', runId)).map((one) => `${one.task_id} ${one.try_number} ${one.state}`),
          EVENTUALLY,
        )
        .toEqual(['greet 2 success', 'shout 2 success']);
      await tab.visit(runPath('hello', runId, '/tasks/greet'));
      await page.getByRole('button', { name: '2', exact: true }).first().waitFor();
      await page.getByRole('button', { name: '1', exact: true }).first().click();
      await page.waitForURL('**try_number=1*');
      await page.getByText('Returned value was').first().waitFor();
      await tab.look('tries');
    },
    TIMEOUT_MS,
  );

  it(
    'marks a task failed after a preview',
    async () => {
      await tab.go(runPath('hello', runId, '/tasks/shout'), 'HELLO, WORLD!');
      await tab.pressInDialog({
        button: tab.dialog().getByRole('button', { name: 'Confirm' }),
        async open() {
          await page.getByRole('button', { name: 'Mark Task Instance as...' }).first().click();
          await tab.menu().getByRole('menuitem', { name: 'Failed' }).click();
        },
        async fill() {
          await tab.dialog().getByText('Affected Tasks: 1').waitFor();
          await tab.look('mark-task');
        },
        sends: /^PATCH .*\/taskInstances\/shout/,
      });
      await tab.dialog().waitFor({ state: 'detached' });
      await page.getByText('Failed', { exact: true }).first().waitFor();
      await expect.poll(() => statesOf('hello', runId), EVENTUALLY).toEqual({ greet: 'success', shout: 'failed' });
    },
    TIMEOUT_MS,
  );

  it(
    'marks a run failed, then successful, and its failed task with it',
    async () => {
      await tab.go(runPath('hello', runId));
      for (const state of ['Failed', 'Success']) {
        await tab.settled(); // what the page learns of the first would close the menu of the second
        await tab.pressInDialog({
          button: tab.dialog().getByRole('button', { name: 'Confirm' }),
          async open() {
            await page.getByRole('button', { name: 'Mark Dag Run as...' }).click();
            await tab.menu().getByRole('menuitem', { name: state }).click();
          },
          fill: () => tab.look(`mark-run-${state}`),
          sends: /^PATCH .*\/dagRuns\/[^/]+$/,
        });
        await tab.dialog().waitFor({ state: 'detached' });
        await runEnds(lite.api, 'hello', runId, state.toLowerCase());
        await page.getByText(state, { exact: true }).first().waitFor();
      }
      expect(await statesOf('hello', runId)).toEqual({ greet: 'success', shout: 'success' });
    },
    TIMEOUT_MS,
  );

  it(
    'keeps a note on a run and on a task',
    async () => {
      type Noted = { note: string | null };
      const run = `/dags/hello/dagRuns/${encodeURIComponent(runId)}`;
      // Each page has a text that the other one does not have, which has a button of the same name.
      for (const [rest, text, path, note, sends] of [
        ['', 'shout', run, 'looked at by Ada', /^PATCH .*\/dagRuns\/[^/]+$/],
        [
          '/tasks/shout',
          'HELLO, WORLD!',
          `${run}/taskInstances/shout`,
          'too loud, said Grace',
          /^PATCH .*\/taskInstances\/shout/,
        ],
      ] as const) {
        await tab.go(runPath('hello', runId, rest), text);
        await tab.pressInDialog({
          button: tab.dialog().getByRole('button', { name: 'Confirm' }),
          open: () => page.getByRole('button', { name: NOTE }).first().click(),
          async fill() {
            if ((await tab.dialog().getByRole('textbox').count()) === 0)
              await tab.dialog().getByText('Add a note...').click();
            await tab.dialog().getByRole('textbox').fill(note);
            await tab.look('note');
          },
          sends,
        });
        await tab.dialog().waitFor({ state: 'detached' });
        await expect.poll(async () => (await lite.api<Noted>('GET', path)).note, EVENTUALLY).toBe(note);
      }
      expect((await instancesOf('hello', runId)).map(({ note }) => note)).toEqual([null, 'too loud, said Grace']);
    },
    TIMEOUT_MS,
  );

  it(
    'deletes a run',
    async () => {
      const doomed = await runToEnd(lite.api, 'hello');
      await tab.go(runPath('hello', doomed));
      // On its way out the page asks once more for what has just gone.
      await tab.expectingStatuses([404], async () => {
        await tab.pressInDialog({
          button: tab.dialog().getByRole('button', { name: /delete/i }),
          open: () => page.getByRole('button', { name: 'Delete Dag Run' }).click(),
          sends: /^DELETE .*\/dagRuns\//,
        });
        await page.waitForURL('**/dags/hello/runs');
        await page.getByText(runId).first().waitFor();
      });
      await expect(lite.api('GET', `/dags/hello/dagRuns/${encodeURIComponent(doomed)}`)).rejects.toThrow('404');
    },
    TIMEOUT_MS,
  );

  it(
    'has all of that in the audit log',
    async () => {
      await tab.go('/dags/hello/events', 'trigger_dag_run');
      for (const event of AUDITED) await page.getByText(event).first().waitFor();
      await tab.look('audit-of-dag');
    },
    TIMEOUT_MS,
  );
});

describe('a backfill', () => {
  it(
    'is made in the dialog and seen until it is complete',
    async () => {
      await tab.go('/dags/moon_phases', 'look_up');
      await tab.pressInDialog({
        button: tab.dialog().getByRole('button', { name: 'Run Backfill' }),
        async open() {
          await page.getByRole('button', { name: 'Trigger' }).first().click();
          await tab.dialog().getByText('Backfill', { exact: true }).click();
        },
        async fill() {
          const form = tab.dialog();
          await fillMoment(ui, { form, label: 'From', at: '2026-01-03T00:00' });
          await fillMoment(ui, { form, label: 'To', at: '2026-01-05T00:00' });
          await tab.dialog().getByText('3 runs').first().waitFor();
          await tab.look('backfill-dialog');
        },
        sends: /^POST .*\/backfills$/,
      });
      await tab.dialog().waitFor({ state: 'detached' });
      const backfills = async () =>
        (await lite.api<{ backfills: { completed_at: string | null }[] }>('GET', '/backfills?dag_id=moon_phases'))
          .backfills;
      await expect
        .poll(async () => (await backfills()).map(({ completed_at: at }) => at !== null), EVENTUALLY)
        .toEqual([true]);
      await tab.go('/dags/moon_phases/backfills', '2026-01-03');
      await tab.look('backfills');
    },
    TIMEOUT_MS,
  );
});

describe('a task that asks a person', { timeout: TIMEOUT_MS }, () => {
  it('shows its question on the pages of the web UI while it waits', async () => {
    await tab.go('/', 'Required Action');
    await tab.look('questions-home');
    await tab.go('/dags?has_pending_actions=true', 'release');
    await tab.look('questions-dags');
    await tab.go('/required_actions', 'May the release go out?');
    await tab.look('questions-list');
  });

  it('is in a list that can be sorted by every column that offers it', async () => {
    await tab.go('/required_actions', 'May the release go out?');
    const headings = page.locator('th button, th [role=button]');
    const count = await headings.count();
    expect(count).toBeGreaterThan(3);
    for (let place = 0; place < count; place += 1) {
      const isSorted = (url: string): boolean => url.includes('hitlDetails') && url.includes('order_by');
      const sorted = page.waitForResponse((response) => isSorted(response.url()));
      await headings.nth(place).click();
      const answer = await sorted;
      expect([answer.url(), answer.status()]).toEqual([answer.url(), 200]);
      await page.getByText('May the release go out?').first().waitFor();
    }
  });

  it('is answered on its page, and the run goes on', async () => {
    await tab.go(`/dags/release/runs/${questionRunId}/tasks/approve/required_actions`, 'May the release go out?');
    await tab.look('questions-task');
    const remark = page.locator('input[name="element_remark"]');
    await remark.fill('go ahead');
    await remark.press('Tab'); // the form takes a field over when it is left
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await runEnds(lite.api, 'release', questionRunId);
    const path = `/dags/release/dagRuns/${encodeURIComponent(questionRunId)}/taskInstances/approve/-1/hitlDetails`;
    expect(await lite.api('GET', path)).toMatchObject({
      chosen_options: ['Approve'],
      params_input: { remark: 'go ahead' },
      responded_by_user: { name: ADMIN },
    });
    await tab.go('/required_actions', 'May the release go out?');
    await tab.look('questions-answered');
  });
});

testSettings(() => ui);
