/** Tests of our own pages inside the Airflow UI, in a browser: what they show and do, and that they look like the UI. */
import type { FrameLocator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { EVENTUALLY } from './lite-instance.ts';
import type { OpenUi } from './open-ui.ts';

const TIMEOUT_MS = 400_000;
const DAG = 'fails_on_purpose';
const TASK = 'check_the_parachute';

/** The instance has a failed run of `fails_on_purpose`. */
export function testOwnTabs(open: () => OpenUi): void {
  const frame = (): FrameLocator => open().page.frameLocator('iframe');
  const button = (name: string | RegExp) => frame().getByRole('button', { name });
  let run: string;
  let rule: string;

  describe('our own pages', () => {
    beforeAll(async () => {
      const { api } = open().lite;
      const { dag_runs: runs } = await api<{ dag_runs: { dag_run_id: string }[] }>('GET', `/dags/${DAG}/dagRuns`);
      run = encodeURIComponent(runs[0]?.dag_run_id ?? '');
      // An address on this host is refused, so the channel fails at once.
      const hook = { connection_id: 'pager', conn_type: 'http', host: 'http://127.0.0.1:9' };
      await api('POST', '/connections', hook);
      const channel = { channel: 'webhook', connection_id: 'pager' };
      ({ id: rule } = await api<{ id: string }>('POST', '/alerts/rules', {
        name: 'all',
        events: ['failed'],
        ...channel,
      }));
    }, TIMEOUT_MS);

    it(
      'say why a run failed, lead to its task, and clear what failed after showing which tasks that is',
      async () => {
        const { tab, page, lite } = open();
        await tab.go(`/dags/${DAG}/runs/${run}/plugin/why`);
        await frame().getByText('1 of 4 tasks failed, 1 could not run').waitFor();
        await frame().getByText('ValueError: the parachute was folded by a beginner').first().waitFor();
        await tab.look('tab-why-run');
        await button('Clear failed and blocked tasks…').press('Enter');
        await frame().getByText(`These run again: ${TASK}, jump.`).waitFor();
        await page.keyboard.press('Escape');
        await button('Clear failed and blocked tasks…').press('Enter');
        await button('Clear 2 tasks').press('Enter');
        await frame().getByText('2 tasks cleared.').waitFor();
        await eventually(
          async () => {
            const path = `/dags/${DAG}/dagRuns/${run}/taskInstances/${TASK}`;
            const instance = await lite.api<{ state: string; try_number: number }>('GET', path);
            expect(instance).toMatchObject({ state: 'failed', try_number: 2 });
          },
          { everyMs: EVENTUALLY.interval, withinMs: EVENTUALLY.timeout },
        );
        await frame().getByRole('link', { name: TASK }).click();
        await page.waitForURL(`**/tasks/${TASK}`);
        await tab.go(`/dags/${DAG}/runs/${run}/tasks/${TASK}/plugin/why-task`);
        await frame().getByText('Why this task failed').waitFor();
        await tab.look('tab-why-task');
      },
      TIMEOUT_MS,
    );

    it(
      'take the colours of the UI, and follow when it becomes dark',
      async () => {
        const { page } = open();
        const colours = (): Promise<[string, string]> =>
          page.evaluate(`[document.documentElement, document.querySelector('iframe').contentDocument.body].map(
            (one) => getComputedStyle(one).backgroundColor)`);
        await page.emulateMedia({ colorScheme: 'light' });
        let light = '';
        await eventually(async () => {
          const [around, within] = await colours();
          expect(within).toBe(around);
          light = around;
        });
        await page.emulateMedia({ colorScheme: 'dark' });
        await eventually(async () => {
          const [around, within] = await colours();
          expect(around).not.toBe(light);
          expect(within).toBe(around);
        });
        await page.emulateMedia({ colorScheme: 'light' });
      },
      TIMEOUT_MS,
    );

    it(
      'list alerts and failing channels, mute a rule, and acknowledge an alert',
      async () => {
        const { tab, lite } = open();
        await tab.go('/plugin/alerts');
        await frame().getByText('1 channel does not work.').waitFor();
        await button('Acknowledge').first().press('Enter');
        await frame().getByText('Acknowledged. The alert sends only its end.').waitFor();
        await button('Mute all').press('Enter');
        await button('Unmute all').waitFor();
        await tab.look('tab-alerts');
        const { rules } = await lite.api<{ rules: { id: string; muted_until: string | null }[] }>(
          'GET',
          '/alerts/rules',
        );
        expect(rules.find(({ id }) => id === rule)?.muted_until).not.toBeNull();
        const { alerts } = await lite.api<{ alerts: object[] }>('GET', '/alerts');
        expect(alerts[0]).toMatchObject({ dag_id: DAG, acknowledged_by: 'admin@localhost' });
      },
      TIMEOUT_MS,
    );

    it(
      'show what the tasks of a DAG and the tries of a task have used',
      async () => {
        const { tab } = open();
        await tab.go(`/dags/${DAG}/plugin/cost`);
        await frame().getByRole('cell', { name: TASK }).first().waitFor();
        await tab.look('tab-cost');
        await tab.go(`/dags/${DAG}/runs/${run}/tasks/${TASK}/plugin/cost-task`);
        await frame().getByRole('columnheader', { name: 'Memory peak' }).waitFor();
        await tab.look('tab-cost-task');
      },
      TIMEOUT_MS,
    );

    it(
      'show components, pools, workers and delays of the fleet',
      async () => {
        const { tab } = open();
        await tab.go('/plugin/fleet');
        for (const name of ['Pools', 'Workers and warm pods']) await frame().getByRole('heading', { name }).waitFor();
        await frame().getByRole('cell', { name: 'default_pool' }).waitFor();
        await frame().getByText('Task delay').waitFor();
        await tab.look('tab-fleet');
      },
      TIMEOUT_MS,
    );
  });
}
