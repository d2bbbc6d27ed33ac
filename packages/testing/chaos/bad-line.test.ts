/** A control plane whose line to the database is slow, or carries nothing on connections that stay open: what its users see of it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { openBadLine } from '../postgres/bad-line.ts';
import type { BadLine } from '../postgres/bad-line.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { ScratchCluster } from '../postgres/scratch-cluster.ts';
import { startLiveServer } from '../server/live-server.ts';
import type { LiveServer } from '../server/live-server.ts';

/** More than a probe waits for an answer, less than a request does. */
const SLOW_MS = 2_500;
const UNAVAILABLE = [503, 'urn:svc:error:database_unavailable'] as const;
const NOT_READY = [503, 'urn:svc:error:not_ready'] as const;

let folder: string;
let cluster: ScratchCluster;
let line: BadLine;
let server: LiveServer;

/** Each attempt leaves a line, and ends when it is told to. */
const dagFile = (directory: string): string => `
import os, time
from airflow.sdk import dag, task

@dag(dag_id="steady", schedule=None)
def steady():
    @task
    def first(run_id=None):
        with open(os.path.join(${JSON.stringify(directory)}, "ran"), "a") as file:
            file.write(run_id + " first\\n")
        while not os.path.exists(os.path.join(${JSON.stringify(directory)}, run_id)):
            time.sleep(0.05)

    @task
    def second(run_id=None):
        with open(os.path.join(${JSON.stringify(directory)}, "ran"), "a") as file:
            file.write(run_id + " second\\n")

    first() >> second()

steady()
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-bad-line-'));
  cluster = await startScratchCluster();
  line = await openBadLine(cluster.port);
  server = await startLiveServer({ 'database.url': line.url(await cluster.createMigratedDatabase()) });
  await server.addDag('steady', dagFile(folder));
}, 400_000);

afterAll(async () => {
  line?.delay(0);
  await server?.close();
  line?.close();
  await cluster?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

type Told = readonly [status: number, type: string | undefined];

/** The status, and of a problem what kind. */
async function told(path: string, body?: object): Promise<Told> {
  const response = await fetch(`${server.url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${server.token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return [response.status, response.ok ? undefined : (JSON.parse(text) as { type: string }).type];
}

const trigger = (runId: string): Promise<Told> => told('/api/v2/dags/steady/dagRuns', { dag_run_id: runId });
const letEnd = (runId: string): Promise<void> => writeFile(join(folder, runId), '');
const ran = async (): Promise<string[]> =>
  (await readFile(join(folder, 'ran'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
const untilRunning = (runId: string): Promise<true> =>
  eventually(async () => (await ran()).includes(`${runId} first`) as true);

/** Asked until it is accepted, as a client does that is told to try again: what is refused may have taken effect, and is then a duplicate. */
async function triggerUntilAccepted(runId: string): Promise<void> {
  await eventually(async () => {
    const answer = await trigger(runId);
    if (answer[0] === 200 || answer[0] === 409) return true;
    expect(answer).toEqual(UNAVAILABLE);
    return false;
  });
}

/** It has succeeded, and each of its tasks has run once. */
async function expectRanOnce(runId: string): Promise<void> {
  const state = () => server.api<{ state: string }>('GET', `/dags/steady/dagRuns/${runId}`);
  await eventually(async () => (await state()).state === 'success');
  expect((await ran()).filter((entry) => entry.startsWith(`${runId} `))).toEqual([`${runId} first`, `${runId} second`]);
  expect(server.exited()).toBe(null);
}

describe('two and a half seconds for each answer of the database', { timeout: 400_000 }, () => {
  it('requests are answered late and not refused, and a run that was accepted goes on to its end', async () => {
    await letEnd('slowly');
    line.delay(SLOW_MS);
    const [alive, ready, list, accepted] = await Promise.all([
      told('/healthz'),
      told('/readyz'),
      told('/api/v2/dags?limit=1'),
      trigger('slowly'),
    ]);
    line.delay(0);
    expect({ alive, ready, list, accepted }).toEqual({
      alive: [200, undefined],
      ready: NOT_READY, // too slow to send anybody here who has a choice
      list: [200, undefined],
      accepted: [200, undefined],
    });
    await expectRanOnce('slowly');
    await eventually(async () => expect(await told('/readyz')).toEqual([200, undefined]));
  });
});

describe('connections that carry nothing any more and stay open', { timeout: 400_000 }, () => {
  it('are given up while new ones are good: who used one is told 503, tasks that ran end once, and new ones start', async () => {
    await triggerUntilAccepted('across');
    await untilRunning('across');
    expect(line.silence()).toBeGreaterThan(1);
    // These requests are sent at once: the pool checks unused connections from time to time and then closes them.
    const asked = Promise.all([told('/api/v2/dags?limit=1'), told('/api/v2/pools'), trigger('refused')]);
    await letEnd('across'); // the agent tells the end of it over what is silent
    await letEnd('after');
    const answers = await asked;
    expect(answers).toContainEqual(UNAVAILABLE);
    for (const answer of answers) expect([UNAVAILABLE, [200, undefined]]).toContainEqual(answer);
    await triggerUntilAccepted('after');
    await expectRanOnce('across');
    await expectRanOnce('after');
  });

  it('are told apart from an answer when new ones are silent too: 503 and not ready, alive, and back when they speak', async () => {
    await triggerUntilAccepted('through');
    await untilRunning('through');
    line.silenceNew(true);
    line.silence();
    await letEnd('through');
    try {
      const answers = await Promise.all([
        told('/api/v2/dags?limit=1'),
        trigger('never'),
        told('/readyz'),
        told('/healthz'),
      ]);
      expect(answers).toEqual([UNAVAILABLE, UNAVAILABLE, NOT_READY, [200, undefined]]);
    } finally {
      line.silenceNew(false);
    }
    await expectRanOnce('through');
    await eventually(async () => (await told('/readyz'))[0] === 200);
  });

  it('do not hold up the end of the process', async () => {
    expect(line.silence()).toBeGreaterThan(1);
    expect(await server.stop()).toBe(0);
  });
});
