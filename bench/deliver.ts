/**
 * Measures how long a push takes until it is live: a repository with many DAGs on this disk, a webhook after the push,
 * one changed DAG. The time ends when the API answers with the new commit.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { startBundleServer } from '@svc/testing/server/bundle-server.ts';
import { createGitRepository } from '@svc/testing/server/git-repository.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const SECRET = 'bench';
const LOOK_EVERY_MS = 10;

const dagText = (dagId: string, task = 'extract'): string => `from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG("${dagId}", schedule=None):
    BashOperator(task_id="${task}", bash_command="true") >> BashOperator(task_id="load", bash_command="true")
`;

export async function run({ number, print, say }: BenchOptions): Promise<void> {
  const dags = number('models', 100);
  const runs = number('runs', 10);
  using repository = createGitRepository();
  const files = Object.fromEntries(
    Array.from({ length: dags }, (_, index) => [`dags/dag_${index}.py`, dagText(`dag_${index}`)]),
  );
  repository.push(files);
  const cluster = await startScratchCluster({ fsync: 'on' });
  const server = await startBundleServer({ 'database.url': await cluster.createDatabase() });
  const report = (figure: string, seconds: number): void =>
    print({ bench: 'deliver', figure, value: rounded(seconds), unit: 's', dags });
  try {
    const begin = performance.now();
    await server.api('POST', '/connections', { connection_id: 'hook', conn_type: 'generic', password: SECRET });
    await server.addBundle('bench', repository.url, { webhook_conn_id: 'hook' });
    report('first deployment', (performance.now() - begin) / 1_000);
    const times: number[] = [];
    for (let index = 0; index < runs; index += 1) {
      times.push(await pushOnce(index));
      say(`deliver: push ${index + 1} of ${runs} was live after ${rounded(times.at(-1) ?? 0)} s`);
    }
    const sorted = times.toSorted((a, b) => a - b);
    report('push to live, median', median(times));
    report('push to live, p95', sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN);
    const undone = performance.now();
    await server.api('POST', '/bundles/bench/rollback', {});
    report('rollback', (performance.now() - undone) / 1_000);
  } finally {
    await server.close();
    await cluster.stop();
  }

  async function pushOnce(index: number): Promise<number> {
    const commit = repository.push({ 'dags/dag_0.py': dagText('dag_0', `task_${index}`) });
    const begin = performance.now();
    const body = JSON.stringify({ after: commit });
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    const answer = await server.call('/api/v2/bundles/bench/webhook', {
      method: 'POST',
      body,
      headers: { 'x-hub-signature-256': signature },
    });
    if (answer.status !== 202) throw new Error(`the webhook was answered ${answer.status}: ${answer.text}`);
    for (;;) {
      const { current } = await server.api<{ current: { version: string } }>('GET', '/bundles/bench');
      if (current.version === commit) return (performance.now() - begin) / 1_000;
      await sleep(LOOK_EVERY_MS);
    }
  }
}
