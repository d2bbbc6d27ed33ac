/**
 * What authors write reaches their tasks to the digit, and comes back from them: from the command line, files and DAG files
 * into real Python tasks, and out through values, assets, other runs and the tool server.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseExact } from '@svc/spec/exact-json.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { compileDags } from '@svc/testing/engine/compiled-dags.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { connectStdio, readText } from '@svc/testing/mcp/connect.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { SEED } from '@svc/testing/seed.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { numberText } from '@svc/testing/spec/number-text.ts';

const NUMBERS = fc.sample(numberText, { numRuns: 200, seed: SEED });
const DATA = `{"v":[${NUMBERS.join(',')}]}`;

const dags = (data: string): string => `
import json
from airflow.sdk import DAG, Asset, Connection, Param, Variable, task
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

DATA = json.loads(r'''${data}''')
OUT = Asset("exact_asset", uri="s3://exact", extra=DATA)

with DAG("exact", schedule=None, params={"fallback": DATA, "limited": Param(2**60, type="integer", minimum=2**60, maximum=2**60 + 1)}):
    @task
    def collect(params=None, dag_run=None):
        return {
            "conf": dag_run.conf["data"],
            "param": params["data"],
            "fallback": params["fallback"],
            "variable": Variable.get("exact", deserialize_json=True),
            "extra": Connection.get("exact").extra_dejson,
            "limited": params["limited"],
        }

    @task(outlets=[OUT])
    def give_on(found, outlet_events=None):
        outlet_events[OUT].extra = found["conf"]
        Variable.set("from_task", found["conf"], serialize_json=True)
        return found

    TriggerDagRunOperator(task_id="follow", trigger_dag_id="follower", conf=DATA) << give_on(collect())

with DAG("follower", schedule=None):
    @task
    def conf_of(dag_run=None):
        return dag_run.conf

    conf_of()

with DAG("large", schedule=None):
    @task
    def make():
        return {"text": "x" * 2_500_000, "pair": (1, 2)}

    @task
    def some():
        return ["y" * 40_000] * 3

    @task
    def look(value):
        return [len(value["text"]), type(value["pair"]).__name__]

    @task
    def length(text):
        return len(text)

    look(make())
    length.expand(text=some())
`;

const folder = mkdtempSync(join(tmpdir(), 'svc-exact-'));
let server: TestServer;
let token = '';
let env: Record<string, string> = {};

beforeAll(async () => {
  process.env['SVC_PYTHON'] = await pythonEnvironment(); // the agent is a child of this process and has its environment
  server = await startTestServer({
    'executor.type': 'subprocess',
    'secret-key': Buffer.alloc(32, 7).toString('base64'),
  });
  token = await server.login();
  env = { SVC_SERVER_URL: server.url, SVC_TOKEN: token, XDG_CONFIG_HOME: folder };
  writeFileSync(join(folder, 'exact.py'), dags(DATA));
  for (const [dagId, spec] of await compileDags(['exact.py'], folder)) {
    await textOf(`/api/v2/dags/${dagId}/dagVersions`, 'POST', JSON.stringify({ spec }));
    await textOf(`/api/v2/dags/${dagId}`, 'PATCH', '{"is_paused":false}');
  }
}, 400_000);
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function textOf(path: string, method = 'GET', body?: string): Promise<string> {
  const answer = await server.call(path, { token, method, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.text;
}

async function svc(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await runSvc(argv, { env });
  if (code !== 0) throw new Error(`svc ${argv.join(' ')}: ${stderr}`);
  return stdout;
}

async function ended(dagId: string, runId: string): Promise<void> {
  const path = `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
  const isOver = async (): Promise<void> => {
    expect(JSON.parse(await textOf(path))).toMatchObject({ state: expect.stringMatching(/success|failed/) as string });
  };
  await eventually(isOver, { everyMs: 200, withinMs: 120_000 });
  expect(JSON.parse(await textOf(path))).toMatchObject({ state: 'success' });
}

const numbersOf = (text: string, ...path: string[]): string[] => {
  const list = path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], parseExact(text));
  return (list as unknown[]).map((value) => JSON.stringify(value));
};

/** An integer to the digit; a fraction as the same float, and as a float. */
function meaning(text: string): string {
  if (!/[.eE]/.test(text)) return `int ${BigInt(text)}`;
  const value = Number(text);
  return `float ${Object.is(value, -0) ? '-0' : value}`;
}

const expectSame = (found: readonly string[]): void => expect(found.map(meaning)).toEqual(NUMBERS.map(meaning));

const valueOf = (dagId: string, runId: string, taskId: string): Promise<string> =>
  textOf(`/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/xcomEntries/return_value`);

it('numbers pass through files, commands, tasks and answers without losing a digit', async () => {
  writeFileSync(join(folder, 'variables.json'), `{"exact": ${DATA}}`);
  await svc('variables', 'import', join(folder, 'variables.json'));
  await svc('connections', 'set', 'exact', '--conn-type', 'http', '--extra', DATA);
  await svc('runs', 'trigger', 'exact', '--run-id', 'one', '--conf', `{"data": ${DATA}}`);
  await ended('exact', 'one');

  const found = await valueOf('exact', 'one', 'give_on');
  for (const name of ['conf', 'param', 'fallback', 'variable', 'extra'])
    expectSame(numbersOf(found, 'value', name, 'v'));
  expect(found).toContain('"limited":1152921504606846976');

  // What no task has read is as it was written, the form of fractions included.
  expect(await textOf('/api/v2/dags/exact/dagRuns/one')).toContain(`"data":${DATA}`);
  expect(JSON.stringify(parseExact(await svc('runs', 'show', 'exact', 'one', '--json')))).toContain(`"data":${DATA}`);
  expect(JSON.parse(await svc('variables', 'export'))).toMatchObject({ exact: DATA });

  expectSame(
    numbersOf(await textOf('/api/v2/assets/events?source_task_id=give_on'), 'asset_events', '0', 'extra', 'v'),
  );
  expectSame(numbersOf(await textOf('/api/v2/assets?name_pattern=exact_asset'), 'assets', '0', 'extra', 'v'));
  const fromTask = JSON.parse(await textOf('/api/v2/variables/from_task')) as { value: string };
  expectSame(numbersOf(fromTask.value, 'v'));
  expectSame(numbersOf(await textOf('/api/v2/dags/exact/details'), 'params', 'fallback', 'value', 'v'));

  const [run] = (JSON.parse(await textOf('/api/v2/dags/follower/dagRuns')) as { dag_runs: { dag_run_id: string }[] })
    .dag_runs;
  await ended('follower', run?.dag_run_id ?? '');
  expectSame(numbersOf(await valueOf('follower', run?.dag_run_id ?? '', 'conf_of'), 'value', 'v'));

  const { client } = await connectStdio(env);
  const spec = await readText(client, 'dag://spec/exact');
  await client.close();
  for (const number of ['9007199254740993', '1152921504606846977', '1.0']) expect(spec).toContain(number);
}, 300_000);

it('a value of megabytes reaches the next task, and the API shows the text or says why not', async () => {
  await svc('runs', 'trigger', 'large', '--run-id', 'one');
  await ended('large', 'one');
  const valueIn = async (taskId: string) =>
    (JSON.parse(await valueOf('large', 'one', taskId)) as { value: unknown }).value;
  expect(await valueIn('look')).toEqual([2_500_000, 'tuple']);
  expect(await valueIn('make')).toMatch(
    /^A dict with 2 items, 2,500,\d+ bytes as JSON\. Not shown, because it has more/,
  );
  const some = Array.from({ length: 3 }, () => 'y'.repeat(40_000));
  expect(await valueIn('some')).toEqual(some);
  // Over this list, which is not in Postgres, a task was expanded.
  const instances = JSON.parse(await textOf('/api/v2/dags/large/dagRuns/one/taskInstances?task_id=length')) as {
    total_entries: number;
  };
  expect(instances.total_entries).toBe(3);
  const waited = await textOf('/api/v2/dags/large/dagRuns/one/wait?interval=1&result=some&result=look');
  expect(waited.trim().split('\n').at(-1)).toContain('yyy');
}, 300_000);

it('the limits of a param hold for numbers that doubles cannot tell apart', async () => {
  const { code, stderr } = await runSvc(['runs', 'trigger', 'exact', '--param', 'limited=1152921504606846978'], {
    env,
  });
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining('must be <= 1152921504606846977')]);
  const huge = await runSvc(['runs', 'trigger', 'exact', '--conf', '{"data": 1e999}'], { env });
  expect([huge.code === 0, huge.stderr]).toEqual([false, expect.stringContaining('conf.data: 1e999 is beyond')]);
});

it('numbers in YAML keep their digits, and those that JSON has not are refused', async () => {
  const path = join(folder, 'more.yaml');
  writeFileSync(path, 'yaml:\n  big: 9007199254740993\n  float: 1.0\n  hex: 0x10\n');
  await svc('variables', 'import', path);
  expect(JSON.parse(await textOf('/api/v2/variables/yaml'))).toMatchObject({
    value: '{"big":9007199254740993,"float":1.0,"hex":16}',
  });
  writeFileSync(path, 'yaml: {never: .inf}\n');
  expect(await runSvc(['variables', 'import', path], { env })).toMatchObject({
    stderr: expect.stringContaining('.inf is no JSON number') as string,
  });
  writeFileSync(path, Buffer.from([0x61, 0x3a, 0x20, 0xff]));
  expect(await runSvc(['variables', 'import', path], { env })).toMatchObject({
    stderr: expect.stringContaining('not valid UTF-8') as string,
  });
});
