/** `svc test` on real DAG files, with the real compiler, engine and Python. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import { beforeAll, describe, expect, it } from 'vitest';

const SALES = `
from helpers import factor
from airflow.sdk import Connection, Variable, dag, task
from airflow.providers.standard.operators.hitl import ApprovalOperator

@dag(schedule=None, params={"size": 2})
def sales():
    @task
    def extract(params=None, ds=None):
        print("extracting", ds)
        return list(range(params["size"]))

    @task(retries=1)
    def load(n):
        return {0: 10, 1: 20}[n] * factor()

    @task
    def report(total):
        return [sum(total), Connection.get("db").host, Variable.get("limit")]

    total = load.expand(n=extract())
    ApprovalOperator(task_id="approve", subject="Publish?") >> report(total)

sales()
`;
const FILES = {
  'dags/sales.py': SALES,
  'dags/helpers.py': 'def factor(): return 1\n',
  'dags/broken.py': 'from airflow.sdk import dag\nraise ValueError("no file")\n',
  'connections.json': '{"db": "postgres://db.example/x"}',
  'variables.json': '{"limit": 7}',
};

let env: Record<string, string>;
beforeAll(async () => {
  env = { SVC_PYTHON: await pythonEnvironment(), PATH: process.env['PATH'] ?? '' };
});
const svc = (...argv: string[]) => runSvc(['test', ...argv], { env });

type Json = { state: string; logical_date: string; tasks: { task_id: string; value: unknown; tries: number }[] };
const json = (text: string): Json => JSON.parse(text) as Json;

describe('svc test', () => {
  it('runs a DAG with its conf, values and answers, and writes nothing', async () => {
    const root = workspaceOf(FILES);
    const given = ['--connections', join(root, 'connections.json'), '--variables', join(root, 'variables.json')];
    const run = ['sales', '--path', join(root, 'dags'), '--param', 'size=2', '--at', '2026-03-04', ...given];
    const { code, stdout, stderr } = await svc(...run, '--answer', 'approve=Approve', '--json');
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('extracting 2026-03-04') });
    expect(json(stdout)).toMatchObject({ state: 'success', logical_date: '2026-03-04T00:00:00+00:00' });
    expect(json(stdout).tasks.find((task) => task.task_id === 'report')?.value).toEqual([30, 'db.example', '7']);
    expect(readdirSync(root).sort()).toEqual(['connections.json', 'dags', 'variables.json']);
  });

  it('names the task and the line that failed, with exit code 1', async () => {
    const root = workspaceOf(FILES);
    const place = join(root, 'dags/sales.py');
    const { code, stdout, stderr } = await svc(place, 'load', '--map-index', '1', '--xcom', 'extract=[0, 5]');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^load\[1\] +failed +2 .*KeyError: 5 \(.*sales\.py:15\)$/m);
    expect(stderr).toMatch(/svc: sales failed in load\[1\] \(.*sales\.py:15\)\n$/);
    const good = await svc(place, 'load', '--map-index', '1', '--xcom', 'extract=[0, 1]', '--json');
    expect(good.code).toBe(0);
    expect(json(good.stdout).tasks).toMatchObject([{ value: 20, tries: 1 }]);
  });

  it.each([
    [['nothing'], 4, 'there is no DAG nothing', 'there are: sales'],
    [['sales', 'lod'], 1, 'sales has no task lod', 'extract'],
    [['sales', '--xcom', 'lod=1'], 2, 'names the task lod', 'extract'],
    [['sales', '--answer', 'Approve'], 2, '--answer is "Approve"', 'approve=Approve'],
    [['sales', '--map-index', '1'], 2, '--map-index needs the name of a task', '<task>'],
    [['sales', 'load', '--map-index', '9', '--xcom', 'extract=[1]'], 1, 'none with map index 9', ''],
    [['sales', '--param', 'size=1', '--connections', '/nowhere.json'], 1, '/nowhere.json', ''],
    [['sales', '--json', '--watch'], 2, '--watch has no end', ''],
    [['sales', '--json', '--debug'], 2, '--debug needs the terminal', ''],
  ])('says what is wrong with %j', async (argv, code, message, hint) => {
    const root = workspaceOf(FILES);
    const told = await svc(...argv, '--path', join(root, 'dags'));
    expect(told).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
    expect(told.stderr).toContain(hint);
  });

  it('opens a debugger at the line of the DAG file, and tries a failed task once', async () => {
    const root = workspaceOf({ 'sales.py': SALES, 'helpers.py': 'def factor(): raise ValueError("no factor")\n' });
    const started = spawnSvc(['test', join(root, 'sales.py'), 'load', '--xcom', 'extract=[1]', '--debug'], env);
    expect(await started.ended).toBe(1);
    expect(started.output()).toMatch(
      /> .*sales\.py\(15\)load\(\)\n-> return \{0: 10, 1: 20\}\[n\] \* factor\(\)\n\(Pdb\)/,
    );
    expect(started.output().match(/\(Pdb\)/g)).toHaveLength(1);
  });

  it('says which package is missing for an editor that attaches', async () => {
    const root = workspaceOf(FILES);
    const told = spawnSvc(['test', join(root, 'dags/sales.py'), '--debug', 'debugpy'], env);
    expect(await told.ended).toBe(1);
    expect(told.output()).toContain('--debug debugpy needs the package debugpy in the environment of the DAG');
  });

  it('runs again after a change of a file that the DAG imports, until Ctrl-C', async () => {
    const root = workspaceOf({ 'sales.py': SALES, 'helpers.py': 'def factor(): return 1\n' });
    const started = spawnSvc(['test', 'sales', 'load', '--path', root, '--xcom', 'extract=[1]', '--watch'], env);
    await started.until('waiting for a change');
    // The table is on standard output, the line above on standard error: either may be read first.
    await eventually(() => expect(started.output()).toMatch(/load\[0\] +success .* 20$/m));
    writeFileSync(join(root, 'helpers.py'), 'def factor(): return 3\n');
    await started.until(' 60\n');
    expect(await started.end(() => started.kill('SIGINT'))).toBe(0);
  });
});
