/** Tasks go on while more is asked than can be answered: requests take neither the connections nor the turns of the scheduler. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startLiveServer } from '../server/live-server.ts';
import type { LiveServer } from '../server/live-server.ts';

const TASKS = 8;
const CALLERS = 300;
/** After a refusal; shorter than it asks for. */
const PAUSE_MS = 100;
const PASSWORD = 'correct horse battery';

let folder: string;
let server: LiveServer;

/** A chain that begins when it is told to. */
const dagFile = (directory: string): string => `
import os, time
from airflow.sdk import dag, task

FOLDER = ${JSON.stringify(directory)}

@dag(dag_id="chain", schedule=None)
def chain():
    @task
    def begin():
        open(os.path.join(FOLDER, "begun"), "w").close()
        while not os.path.exists(os.path.join(FOLDER, "go")):
            time.sleep(0.05)

    @task
    def step(n):
        with open(os.path.join(FOLDER, "ran"), "a") as file:
            file.write(str(n) + "\\n")

    last = begin()
    for n in range(${TASKS}):
        following = step.override(task_id="step" + str(n))(n)
        last >> following
        last = following

chain()
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-burst-'));
  server = await startLiveServer({
    'database.statement_timeout': '0s', // what is held up here waits until the end
    'server.max_requests_waiting': '40', // the rest is turned away at once
  });
  await server.addDag('chain', dagFile(folder));
}, 400_000);

afterAll(async () => {
  await server?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function viewer(): Promise<string> {
  const email = 'viewer@example.com';
  await server.api('POST', '/users', { email, password: PASSWORD, roles: ['viewer'] });
  const response = await fetch(`${server.url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: email, password: PASSWORD }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

const read = async (name: string): Promise<string[]> =>
  (await readFile(join(folder, name), 'utf8')).split('\n').filter(Boolean);

it('every task of a run ends while a viewer asks for lists on every connection there is', async () => {
  const headers = { authorization: `Bearer ${await viewer()}` };
  const runId = await server.trigger('chain');
  await eventually(() => read('begun'));
  const blocker = new pg.Client({ connectionString: server.databaseUrl });
  await blocker.connect();
  await blocker.query('begin; lock table import_errors'); // so that what is served stays so
  const answers: { status: number; type: string | undefined }[] = [];
  const over = new AbortController();
  /** Asks again for as long as it is turned away. */
  const caller = async (): Promise<void> => {
    do {
      const response = await fetch(`${server.url}/api/v2/importErrors`, { headers });
      const { type } = (await response.json()) as { type?: string };
      answers.push({ status: response.status, type });
      await sleep(PAUSE_MS);
    } while (!over.signal.aborted);
  };
  const burst = Promise.all(Array.from({ length: CALLERS }, caller));
  try {
    await eventually(() => answers.length > CALLERS); // nobody is served, and all others are asking again
    await writeFile(join(folder, 'go'), '');
    await eventually(async () => (await read('ran')).length === TASKS);
    expect(answers.filter(({ status }) => status === 200)).toEqual([]); // they all ended while it went on
  } finally {
    over.abort();
    await blocker.end();
  }
  await burst;
  expect((await server.ended('chain', runId)).state).toBe('success');
  expect(await read('ran')).toEqual(Array.from({ length: TASKS }, (_, n) => String(n)));
  for (const { status, type } of answers) {
    if (status === 200) continue;
    expect([429, 503]).toContain(status);
    expect(type).toBe('urn:svc:error:overloaded');
  }
}, 400_000);
