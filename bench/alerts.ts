// Measures the time from the end of a run to its alert at a loopback receiver: runs of a lite fail one after the other,
// each with another cause, so that each is one message.

import { startHttpReceiver } from '@svc/testing/alerts/http-receiver.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startLite } from '@svc/testing/web-ui/lite-instance.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const DAG = `
from airflow.sdk import DAG, task

with DAG("failing", schedule=None, params={"word": "x"}):

    @task
    def fail(params=None):
        raise ValueError("the cause is " + params["word"])

    fail()
`;

export async function run({ number, print, say }: BenchOptions): Promise<void> {
  const times = number('times', 100);
  const receiver = await startHttpReceiver();
  const env = { SVC_ALERTS_ALLOW_PRIVATE_ADDRESSES: 'true' };
  const lite = await startLite({ examples: [], dags: { 'failing.py': DAG }, env });
  try {
    await lite.api('PATCH', '/dags/failing', { is_paused: false });
    await lite.api('POST', '/connections', { connection_id: 'hook', conn_type: 'http', host: receiver.url });
    await lite.api('POST', '/alerts/rules', {
      name: 'all',
      events: ['failed'],
      channel: 'webhook',
      connection_id: 'hook',
    });
    const delays: number[] = [];
    for (let index = 0; index < times; index += 1) {
      // Letters, because numbers do not make another cause.
      const word = [...String(index)].map((digit) => String.fromCodePoint(97 + Number(digit))).join('');
      const conf = { word };
      const { dag_run_id: runId } = await lite.api<{ dag_run_id: string }>('POST', '/dags/failing/dagRuns', { conf });
      const message = await eventually(
        () => {
          const found = receiver.received.find(({ body }) => (body['fields'] as { run?: string })?.run === runId);
          if (!found) throw new Error('no message yet');
          return found;
        },
        { everyMs: 20, withinMs: 60_000 },
      );
      const path = `/dags/failing/dagRuns/${encodeURIComponent(runId)}`;
      const { end_date: end } = await lite.api<{ end_date: string }>('GET', path);
      delays.push(message.at - Date.parse(end));
      if ((index + 1) % 20 === 0) say(`${index + 1} of ${times}`);
    }
    const sorted = delays.toSorted((a, b) => a - b);
    const p95 = sorted[Math.ceil(0.95 * sorted.length) - 1] ?? Number.NaN;
    print({
      bench: 'alerts',
      figure: 'end of run to message, median',
      value: rounded(median(delays), 0),
      unit: 'ms',
      times,
    });
    print({ bench: 'alerts', figure: 'end of run to message, p95', value: rounded(p95, 0), unit: 'ms', times });
    print({ bench: 'alerts', figure: 'messages', value: receiver.received.length, unit: `of ${times} runs` });
  } finally {
    await lite.stop();
    await receiver.close();
  }
}
