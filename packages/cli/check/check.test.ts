/** `svc check` and `svc fix`, on a repository of Airflow 2 times, with the real compiler. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CheckReport } from './report.ts';

const OLD_STYLE = join(ROOT, 'packages/testing/airflow-2-style');

let env: Record<string, string>;
beforeAll(async () => {
  env = { SVC_PYTHON: await pythonEnvironment(), PATH: process.env['PATH'] ?? '' };
});

const svc = (...argv: string[]) => runSvc(argv, { env });

/** The old repository, in a place where it may be changed. */
function copyOfOldStyle(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-old-style-'));
  cpSync(OLD_STYLE, folder, { recursive: true });
  return folder;
}

async function reportOf(path: string): Promise<{ code: number; report: CheckReport }> {
  const { code, stdout } = await svc('check', path, '--json');
  return { code, report: JSON.parse(stdout) as CheckReport };
}

const fileOf = (report: CheckReport, name: string) => {
  const found = report.files.find(({ file }) => file === name);
  if (!found) throw new Error(`${name} is not in the report`);
  return found;
};

describe('svc check', () => {
  it('says of each file whether it loads, what it needs, what is gone at which line, and the effort left', async () => {
    const { code, report } = await reportOf(OLD_STYLE);
    expect(code).toBe(1);
    expect(report.totals).toMatchObject({
      files: 4,
      loads: 3,
      loads_percent: 75,
      dags: 3,
      packages_to_add: ['apache-airflow-providers-postgres', 'pandas'],
    });
    const audit = fileOf(report, 'dags/audit.py');
    expect(audit).toMatchObject({ loads: false, effort: 'edit' });
    expect(audit.problems).toMatchObject([{ file: 'dags/audit.py', line: 11, message: 'create_session is gone' }]);
    expect(audit.problems[0]?.instead).toContain('REST API');
    expect(audit.gone.map(({ line }) => line)).toEqual([11, 13, 13]);
    expect(fileOf(report, 'dags/sales_daily.py')).toMatchObject({ loads: true, effort: 'fix', by_hand: [] });
    expect(fileOf(report, 'dags/sql/show.sh')).toMatchObject({ is_dag_file: false, effort: 'fix' });
    const sync = fileOf(report, 'dags/warehouse_sync.py');
    expect(sync.packages).toMatchObject([
      { name: 'apache-airflow-providers-postgres', listed: false },
      { name: 'pandas', module: 'pandas', line: 9, listed: false },
    ]);
    const [sales] = fileOf(report, 'dags/sales_daily.py').dags;
    expect(sales?.differs.map(({ id }) => id)).toEqual(['cron-interval']);
  });

  it('ends with 0 when everything loads, and with 1 under --strict while something is left to do', async () => {
    const root = workspaceOf({
      'dags/a.py': 'from airflow.decorators import dag\n@dag(schedule=None)\ndef a(): ...\na()\n',
    });
    expect((await svc('check', root)).code).toBe(0);
    expect(await svc('check', root, '--strict')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('left to do'),
    });
    expect((await svc('fix', root, '--write')).code).toBe(0);
    expect((await svc('check', root, '--strict')).code).toBe(0);
    expect((await svc('check', join(root, 'nowhere'))).code).toBe(4);
    expect((await svc('check', '--nonsense')).code).toBe(2);
  });

  it('reports nothing as gone that only tests of DAGs use, which never run here', async () => {
    const root = workspaceOf({
      'dags/a.py': 'from airflow.sdk import DAG\ndag = DAG("a")\n',
      'tests/test_dags.py': 'from airflow.models import DagBag\ndef test(): assert not DagBag().import_errors\n',
    });
    const { code, report } = await reportOf(root);
    expect([code, report.totals.gone, fileOf(report, 'tests/test_dags.py').effort]).toEqual([0, 0, 'none']);
  });

  it('names the package of a module that is missing, and what differs from Airflow', async () => {
    const root = workspaceOf({
      'missing.py': 'from airflow.sdk import DAG\nimport sklearn.svm\nDAG("m")\n',
      'by_asset.py': [
        'from airflow.datasets import Dataset',
        'from airflow import DAG',
        'from airflow.operators.bash import BashOperator',
        'with DAG("by_asset", schedule=[Dataset("s3://a")]):',
        '    BashOperator(task_id="t", bash_command="echo {{ ds }}")',
        '',
      ].join('\n'),
      'differs.py': [
        'from airflow.sdk import DAG',
        'from airflow.providers.standard.operators.empty import EmptyOperator',
        'with DAG("d", schedule="@daily", access_control={"team": {"can_read"}}) as dag:',
        '    EmptyOperator(task_id="t", run_as_user="etl", queue="big", email="a@example.com")',
        '',
      ].join('\n'),
    });
    const { report } = await reportOf(root);
    expect(fileOf(report, 'missing.py').packages).toMatchObject([{ name: 'scikit-learn', missing: true, line: 2 }]);
    expect(fileOf(report, 'by_asset.py').dags[0]?.differs).toMatchObject([{ id: 'asset-date', since: 'airflow-2' }]);
    const [dag] = fileOf(report, 'differs.py').dags;
    expect(dag).toMatchObject({ runs_as_on_airflow: false });
    expect(dag?.differs.map(({ id, tasks }) => [id, tasks])).toEqual([
      ['email', ['t']],
      ['run-as-user', ['t']],
      ['queue', ['t']],
      ['access-control', []],
    ]);
  });

  it('reports what a spec does not show: context keys, settings, hooks, with their places', async () => {
    const root = workspaceOf({
      'airflow.cfg':
        '[metrics]\nstatsd_on = True\n[state_store]\nclear_on_success = True\n[core]\nparallelism = 32\nxcom_backend = own.Backend\n',
      'config/airflow_local_settings.py': 'def pod_mutation_hook(pod):\n    pass\n',
      'dags/late.py': [
        'from airflow.sdk import DAG, Variable, task',
        'with DAG("late", schedule=Variable.get("when", None)):',
        '    @task',
        '    def keep(task_state_store=None, **context): ...',
        '    @task.stub(queue="java")',
        '    def elsewhere(): ...',
        '    keep()',
        '    elsewhere()',
        '',
      ].join('\n'),
    });
    const { report } = await reportOf(root);
    const [dag] = fileOf(report, 'dags/late.py').dags;
    expect(fileOf(report, 'dags/late.py').needs_airflow).toBe('3.3');
    expect(fileOf(report, 'dags/late.py').notes.map(({ message }) => message)).toContain(
      'needs Airflow 3.3 or newer: task_state_store',
    );
    expect(fileOf(report, 'dags/late.py').notes.map(({ message }) => message)).toContainEqual(
      expect.stringContaining("Variable.get('when') returned its default, because the file was compiled without"),
    );
    expect(dag?.differs.map(({ id, tasks, places }) => [id, ...tasks, ...places])).toEqual([
      ['queue', 'elsewhere'],
      ['stub', 'elsewhere'],
      ['state-store', '[state_store] clear_on_success'],
      ['xcom-backend', '[core] xcom_backend'],
      ['metrics', '[metrics] statsd_on'],
      ['pod-mutation-hook', 'pod_mutation_hook (airflow_local_settings.py:1)'],
    ]);
  });

  it('prints a table that says what to do next, and writes one page without outside resources', async () => {
    const page = join(mkdtempSync(join(tmpdir(), 'svc-check-')), 'report.html');
    const hostile = workspaceOf({
      'dags/x.py': 'from airflow import DAG\nraise ValueError("<script>alert(1)</script>")\n',
    });
    const { stdout } = await svc('check', OLD_STYLE, '--html', page);
    expect(stdout).toMatch(/dags\/sales_daily\.py +sales_daily +yes +yes, but: cron-interval/);
    expect(stdout).toContain('dags/audit.py:11: create_session is gone');
    expect(stdout).toContain('3 of 4 files load (75 %)');
    expect(stdout).toMatch(/svc fix .* --write rewrites \d+ places\./);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('dags/sales_daily.py');
    expect(html).not.toMatch(/<script|src=|https?:\/\/|@import|url\(/);
    await svc('check', hostile, '--html', page);
    expect(readFileSync(page, 'utf8')).toContain('&#60;script&#62;');
  });
});

describe('svc fix', () => {
  it('shows a diff and changes nothing until told to; then everything rewritten compiles without a warning', async () => {
    const root = copyOfOldStyle();
    const before = readFileSync(join(root, 'dags/sales_daily.py'), 'utf8');
    const shown = await svc('fix', root);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/^-    schedule_interval="@daily",$[^]*^\+    schedule="@daily",$/m);
    expect(shown.stderr).toContain('dags/audit.py:11:10: by hand: create_session is gone');
    expect(readFileSync(join(root, 'dags/sales_daily.py'), 'utf8')).toBe(before);
    expect(await svc('fix', root, '--check')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('would be rewritten'),
    });

    expect((await svc('fix', root, '--write')).stdout).toContain('Rewrote 6 files');
    expect((await svc('fix', root, '--check')).code).toBe(0);
    const after = readFileSync(join(root, 'dags/sales_daily.py'), 'utf8');
    expect(after).toContain('# the graph is what we look at');
    writeFileSync(join(root, 'dags/audit.py'), '');
    const validated = await svc('validate', root, '--json');
    const { units } = JSON.parse(validated.stdout) as { units: { warnings: object[] }[] };
    expect(units.flatMap(({ warnings }) => warnings)).toEqual([]);
  });

  it('gives programs what it found, and leaves a file alone that is no Python', async () => {
    const root = workspaceOf({
      'a.py': 'from airflow.models import Variable\n',
      'broken.py': 'from airflow import (\n',
    });
    const { code, stdout } = await svc('fix', root, '--json');
    expect(code).toBe(1);
    const { written, files } = JSON.parse(stdout) as { written: boolean; files: { path: string }[] };
    expect(written).toBe(false);
    expect(files).toMatchObject([
      { path: 'a.py', changed: true, findings: [{ line: 1, kind: 'old', fixable: true }] },
      { path: 'broken.py', changed: false, error: expect.stringContaining('line 1') },
    ]);
  });
});

describe('what a slow reader gets', () => {
  it('is everything: a command that has ended does not take with it what the pipe had no room for', async () => {
    const lines = Array.from({ length: 600 }, (_, number) => `from airflow.models import Variable as v${number}\n`);
    const root = workspaceOf({ 'many.py': lines.join(''), 'broken.py': 'from airflow import (\n' });
    const child = spawn(join(ROOT, 'bin/svc'), ['fix', root, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    // The message about the failure comes last; until then nothing is read.
    await new Promise((resolve) => child.stderr.once('data', resolve));
    let output = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) output += String(chunk);
    expect(output.length).toBeGreaterThan(128 * 1_024);
    expect(JSON.parse(output)).toMatchObject({ written: false });
  });
});

describe('warnings of the compiler', () => {
  it('have the line of the old spelling, so that editors can jump there', async () => {
    const root = workspaceOf({
      'd.py': '\nfrom airflow.decorators import dag\n@dag(schedule_interval=None)\ndef d(): ...\nd()\n',
    });
    const { stderr } = await svc('validate', root);
    expect(stderr).toMatch(
      /d\.py:2: warning: from airflow\.decorators import dag is an old spelling; write from airflow\.sdk import dag/,
    );
    expect(stderr).toMatch(/d\.py:\d: warning: schedule_interval= is an old spelling; write schedule=/);
  });
});
