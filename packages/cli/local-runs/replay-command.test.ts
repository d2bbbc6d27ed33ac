/** `svc replay` of tries that a control plane really ran. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { startLiveServer } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const SALES = `
from airflow.sdk import Connection, dag, task

@dag(schedule=None, params={"password": "none"})
def sales():
    @task
    def extract(params=None):
        return [{"token": "t1", "amount": 1}, {"token": "t2"}]

    @task
    def much():
        return "x" * 1_100_000

    @task(retries=1, retry_delay=0)
    def load(row, ti=None, ds=None):
        print("loading on", ds, "try", ti.try_number, "of", ti.run_id)
        return row["amount"]  # not in the second row

    @task(trigger_rule="all_done")
    def send(ti=None):
        amounts = [one for one in ti.xcom_pull(task_ids=["load"])]
        raise RuntimeError(f"{amounts} to {Connection.get('mail').host}")

    [load.expand(row=extract()), much()] >> send()

sales()
`;
/** The first try of `price` pushes 1, and the second 2. */
const MOVING = `
from airflow.sdk import dag, task

@dag(schedule=None)
def moving():
    @task
    def price(ti=None):
        ti.xcom_push("password", "hunter4")
        return ti.try_number
    @task
    def pay(amount):
        if amount < 2:
            raise ValueError(f"price {amount} is too low")
    pay(price())

moving()
`;
const DATE = '2026-03-04T05:00:00Z';

let live: LiveServer;
beforeAll(async () => {
  live = await startLiveServer();
  await live.addDag('sales', SALES);
  const conf = ['--param', 'password=hunter2', '--logical-date', DATE];
  await live.jsonOf('runs', 'trigger', 'sales', '--run-id', 'r1', ...conf);
  const shown = () => live.jsonOf<DagRun & { task_instances: TaskInstance[] }>('runs', 'show', 'sales', 'r1');
  await live.until(shown, ({ state }) => state === 'failed');
});
afterAll(() => live?.close());

const replay = (...argv: string[]) => live.svc('replay', 'sales', 'r1', ...argv);

describe('svc replay', () => {
  it('fails with the exception of the control plane, at its line, with the values and dates of the try', async () => {
    const own = mkdtempSync(join(tmpdir(), 'svc-temporary-')); // other programs replay tries at the same time
    vi.stubEnv('TMPDIR', own);
    const { code, stdout, stderr } = await replay('load', '--map-index', '1').finally(() => vi.unstubAllEnvs());
    expect(code).toBe(1);
    expect(stdout).toMatch(/^load\[1\] +failed +\d .*KeyError: 'amount' \(sales\.py:17\)$/m);
    expect(stderr).toContain('svc: replaying try 2 of load[1] in r1, version 1: failed: ');
    expect(stderr).toContain('loading on 2026-03-04 try 2 of r1');
    expect(readdirSync(own).filter((name) => name.startsWith('svc-replay-'))).toEqual([]);
    rmSync(own, { recursive: true });
  });

  it('takes another try, another instance, and connections from a file on this machine', async () => {
    const first = await replay('load', '--map-index', '0', '--try', '1', '--json');
    expect(JSON.parse(first.stdout)).toMatchObject({ state: 'success', tasks: [{ value: 1 }], masked: [] });
    const root = workspaceOf({ 'connections.json': '{"mail": "smtp://mail.example"}' });
    const send = await replay('send', '--connections', join(root, 'connections.json'));
    expect(send.stderr).toContain('too large for the API, and a description is in their place: much');
    expect(send.stdout).toContain('RuntimeError: [1] to mail.example (sales.py:22)');
    const none = await replay('load', '--map-index', '0', '--try', '7');
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('its tries are: 1') });
  });

  it('runs the working copy with --edit, with the inputs of the try', async () => {
    const root = workspaceOf({ 'sales.py': SALES.replace('row["amount"]', 'row.get("amount", 7)') });
    const { code, stdout } = await replay('load', '--map-index', '1', '--edit', '--path', root, '--json');
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 0, tasks: [{ value: 7 }] });
  });

  it('writes a test with the inputs of the try, and never over a file', async () => {
    const root = workspaceOf({ 'sales.py': SALES });
    mkdirSync(join(root, 'tests'));
    const { code, stderr } = await replay('load', '--map-index', '1', '--to-test', '--path', root);
    expect(code, stderr).toBe(0);
    const text = readFileSync(join(root, 'tests/test_replay_sales_load.py'), 'utf8');
    expect(text).toContain('DAG_FILE = Path(__file__).parent / "../sales.py"');
    expect(text).toContain('map_index=1,');
    expect(text).toContain('xcoms={"extract": [{"token": "t1", "amount": 1}, {"token": "t2"}]}');
    expect(await replay('load', '--map-index', '1', '--to-test', '--path', root)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exists'),
    });
  });

  it('names the values that the caller may not read, and runs with masks in their place', async () => {
    await live.server.addUser({ email: 'reader@example.com', roles: ['viewer'] });
    const env = { ...live.env, SVC_TOKEN: await live.server.login('reader@example.com') };
    const told = await runSvc(['replay', 'sales', 'r1', 'load', '--map-index', '1'], { env });
    expect(told.stderr).toContain(
      'you may not read these values, which are masked: conf.password, xcom extract.0.token',
    );
    expect(told.stderr).not.toContain('hunter2');
    expect(told.stdout).toMatch(/KeyError: 'amount' \(sales\.py:17\)$/m);
  });

  it('asks the control plane for a connection only with --production, with a permission of its own, and audits it', async () => {
    const mail = { connection_id: 'mail', conn_type: 'smtp', host: 'mail.example', password: 'hunter3' };
    const token = live.env['SVC_TOKEN'] ?? '';
    await live.server.call('/api/v2/connections', { method: 'POST', token, body: mail });
    const without = await replay('send');
    expect(without.stdout).toContain('AirflowNotFoundException');
    const { stdout, stderr } = await replay('send', '--production');
    expect(stderr).toContain('the task uses the connection mail of the control plane');
    expect(stdout).toContain('RuntimeError: [1] to mail.example (sales.py:22)');
    const audited = await live.server.call('/api/v2/eventLogs?event=post_replay_value', { token });
    const { event_logs: entries } = audited.json<{ event_logs: { extra: string }[] }>();
    expect(entries).toHaveLength(1);
    expect(entries[0]?.extra).toContain('"task_id": "send"');

    await live.server.addUser({ email: 'editor@example.com', roles: ['editor'] });
    const env = { ...live.env, SVC_TOKEN: await live.server.login('editor@example.com') };
    const refused = await runSvc(['replay', 'sales', 'r1', 'send', '--production'], { env });
    expect(refused.stdout).toContain('missing permission use:secret');
    expect(refused.stderr).not.toContain('of the control plane');
  });

  it('decides the run again with --plan, and names the end and the rule that started or stopped each task', async () => {
    const plan = await replay('--plan');
    expect(plan).toMatchObject({ code: 0 });
    const decisions = plan.stdout.replaceAll(/^ *\+[\d.]+ s/gm, '+');
    expect(decisions).toContain('+  extract try 1 ends: success\n');
    expect(decisions).toContain('load (2 instances) ─▶ scheduled: trigger rule all_success: ');
    expect(decisions).toMatch(
      /load\[1\] try 1 ends: failed, exception: KeyError: 'amount'\n +load\[1\] ─▶ up_for_retry/,
    );
    expect(decisions).toContain('send ─▶ scheduled: trigger rule all_done: every upstream task is finished');
    expect(decisions).toContain('the run ends: failed');
    expect(decisions).toContain('The replay ends as the run for 5 of 5 task instances.');
    const one = await replay('send', '--plan');
    expect(one.stdout).not.toContain('extract try 1');
    expect(await replay('send', '--plan', '--edit')).toMatchObject({ code: 2 });
  });

  it('gives a failed try the values of its time, after a clear has made the tasks before it push others', async () => {
    await live.addDag('moving', MOVING);
    const stateOf = (id: string) => live.jsonOf<DagRun>('runs', 'show', 'moving', id);
    await live.jsonOf('runs', 'trigger', 'moving', '--run-id', 'm1');
    await live.until(
      () => stateOf('m1'),
      ({ state }) => state === 'failed',
    );
    const cleared = await live.server.call('/api/v2/dags/moving/clearTaskInstances', {
      method: 'POST',
      token: live.env['SVC_TOKEN'] ?? '',
      body: { dag_run_id: 'm1', task_ids: ['price', 'pay'], dry_run: false, only_failed: false },
    });
    expect(cleared.status, cleared.text).toBe(200);
    await live.until(
      () => stateOf('m1'),
      ({ state }) => state === 'success',
    );
    const first = await live.svc('replay', 'moving', 'm1', 'pay', '--try', '1');
    expect(first.stdout).toContain('ValueError: price 1 is too low (moving.py:13)');
    expect(first.stderr).not.toContain('written after the try');
    const latest = await live.svc('replay', 'moving', 'm1', 'pay');
    expect(latest).toMatchObject({ code: 0 });

    await live.server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
    const token = await live.server.login('viewer@example.com');
    const kept = await live.server.call('/api/v2/dags/moving/dagRuns/m1/replacedXcomEntries', { token });
    expect(kept.json()).toMatchObject({
      replaced_xcom_entries: [
        { task_id: 'price', key: 'password', value: '"***"' },
        { task_id: 'price', key: 'return_value', value: '1' },
      ],
      total_entries: 2,
    });
  });

  it('says with --plan which state a person has set, because no rule explains it', async () => {
    await live.jsonOf('runs', 'trigger', 'sales', '--run-id', 'r2');
    await live.until(
      () => live.jsonOf<DagRun>('runs', 'show', 'sales', 'r2'),
      ({ state }) => state === 'failed',
    );
    const path = '/api/v2/dags/sales/dagRuns/r2/taskInstances/extract';
    const marked = await live.server.call(path, {
      method: 'PATCH',
      token: live.env['SVC_TOKEN'] ?? '',
      body: { new_state: 'failed' },
    });
    expect(marked.status).toBe(200);
    const { stdout, stderr } = await live.svc('replay', 'sales', 'r2', '--plan');
    expect(stdout).toContain('extract try 1 ends: failed, marked_failed');
    expect(stdout).toContain('(by its rule it would not have run here: a person or another run let it)');
    expect(stderr).toContain('load[0] is success in the run, and the replay gives it no state');
  });

  it('refuses modules with other contents than those of the version', async () => {
    const root = workspaceOf({
      'dags/uses.py': `from airflow.sdk import dag, task
from svc_rates import rate

@dag(schedule=None)
def uses():
    @task
    def work():
        raise ValueError(rate())
    work()

uses()
`,
      'dags/svc_rates.py': 'def rate(): return 5\n',
    });
    const folder = join(root, 'dags');
    for (const argv of [
      ['deploy', folder],
      ['dags', 'unpause', 'uses'],
      ['runs', 'trigger', 'uses', '--run-id', 'u1'],
    ]) {
      expect(await live.svc(...argv)).toMatchObject({ code: 0 });
    }
    await live.until(
      () => live.jsonOf<DagRun>('runs', 'show', 'uses', 'u1'),
      ({ state }) => state === 'failed',
    );
    const again = () => live.svc('replay', 'uses', 'u1', 'work', '--path', folder);
    const same = await again();
    expect(`${same.stdout}${same.stderr}`).toContain('ValueError: 5 (dags/uses.py:8)');
    writeFileSync(join(folder, 'svc_rates.py'), 'def rate(): return 6\n');
    expect(await again()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('svc_rates.py') });
  });
});
