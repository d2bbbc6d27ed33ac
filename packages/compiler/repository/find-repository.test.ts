import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dagText, workspaceOf, writeFiles } from '@svc/testing/compiler/workspace.ts';
import { copyRepositories } from '@svc/testing/repositories.ts';
import { discover } from '../discover.ts';
import { findRepository } from './find-repository.ts';

const DAG = dagText('any');
const found = async (path: string) => (await discover(path)).map(({ kind, name }) => `${kind} ${name}`);

function copies(): string {
  const { root, remove } = copyRepositories();
  onTestFinished(remove);
  return root;
}

describe('a repository', () => {
  it('has its DAG files in dags/, at any depth and in zips, without what .airflowignore leaves out', async () => {
    expect(await found(copies())).toEqual([
      'file airflow2/dags/legacy_etl.py',
      'file astronomer/dags/exports/nightly_export.py',
      'file astronomer/dags/shop_report.py',
      'file monorepo/billing/dags/invoices/send.py',
      'file monorepo/orders/dags/daily/intake/dag.py',
      'file monorepo/orders/dags/packaged.zip/zipped_orders.py',
    ]);
  });

  it('says what is on the path, as Airflow puts it there', async () => {
    const root = copies();
    const bundleOf = async (path: string) =>
      (await discover(join(root, path))).map(({ repository }) => repository?.bundle.import_roots);
    expect(await bundleOf('astronomer/dags/shop_report.py')).toEqual([['dags', 'plugins', '.']]);
    expect(await bundleOf('monorepo/orders/dags/packaged.zip')).toEqual([
      ['dags/packaged.zip', 'dags', '.', 'libs/pricing/src'],
    ]);
    const whole = workspaceOf({
      'dags/a.py': DAG,
      'config/x.py': '',
      'plugins/p.py': '',
      'src/lib.py': '',
      'setup.py': '',
    });
    expect((await findRepository(whole))?.bundle).toEqual({
      dags: 'dags',
      import_roots: ['dags', 'config', 'plugins', '.', 'src'],
      plugins: ['plugins'],
    });
  });

  it('reads what it needs from requirements, packages.txt and the Dockerfile, and tells the rest once', async () => {
    const root = copies();
    const units = await discover(join(root, 'astronomer'));
    expect(units.map(({ isFirst }) => isFirst)).toEqual([true, false]);
    expect(units[0]?.repository).toMatchObject({
      project: { dependencies: ['humanize==4.9.0'], system_packages: ['libpq-dev'] },
      env: { SHOP_CURRENCY: 'EUR', AIRFLOW__CORE__DEFAULT_TIMEZONE: 'utc' },
      ignoreSyntax: 'glob',
    });
    const old = await findRepository(join(root, 'airflow2'));
    expect(old).toMatchObject({
      project: {
        dependencies: ['tabulate>=0.9 ; python_version >= "3.8"', '-c tabulate==0.9.0'],
        system_packages: ['git'],
        python_version: '3.11',
      },
      // Nobody says so, but it is of the time when that was the default.
      ignoreSyntax: 'regexp',
    });
    expect(old?.notes.filter(({ file }) => file === 'Dockerfile')).toEqual([
      { file: 'Dockerfile', line: 10, message: expect.stringContaining('constraints-2.9.3') },
    ]);
  });

  it('is known from inside: one of its folders, one of its files, also one that is left out', async () => {
    const root = join(copies(), 'monorepo', 'orders');
    expect(await found(join(root, 'dags', 'daily'))).toEqual(['file intake/dag.py']);
    const [named] = await discover(join(root, 'dags', 'scratch', 'broken.py'));
    expect(named).toMatchObject({ name: 'broken.py', root, repository: { bundle: { dags: 'dags' } } });
  });

  it('may be flat: DAG files beside what marks it', async () => {
    const root = workspaceOf({
      'a.py': DAG,
      'requirements.txt': 'x\n',
      '.airflowignore': 'b*.py\n',
      'b.py': DAG,
      'plugins/p.py': DAG,
      'etl/dag.py': DAG,
    });
    expect(await found(root)).toEqual(['file a.py', 'project etl']);
    expect((await findRepository(root))?.bundle).toMatchObject({ dags: '.', import_roots: ['.', 'plugins'] });
  });

  it('keeps projects in it and beside it projects', async () => {
    const root = workspaceOf({
      'dags/a.py': DAG,
      'dags/own/svc.yaml': '',
      'dags/own/dag.py': DAG,
      'other/dag.py': DAG,
      'other2/plain.py': DAG,
      'include/dag.py': DAG,
      'tests/test_dags.py': DAG,
      'dags/team/tests/test_dags.py': DAG,
      'dags/team/tests/conftest.py': DAG,
    });
    expect(await found(root)).toEqual(['file dags/a.py', 'project dags/own', 'project other']);
  });

  it('has its DAGs where its settings say', async () => {
    const root = workspaceOf({
      'workflows/a.py': DAG,
      'dags/other.py': DAG,
      Dockerfile:
        'FROM apache/airflow:3.2.2\nENV AIRFLOW__CORE__DAGS_FOLDER=/opt/airflow/workflows PYTHONPATH=/opt/airflow/libs\n',
      'libs/lib.py': '',
    });
    expect(await found(root)).toEqual(['file workflows/a.py']);
    expect((await findRepository(root))?.bundle.import_roots).toEqual(['workflows', '.', 'libs']);
  });

  it('is not a folder of projects that is called dags, nor an empty one', async () => {
    expect(await findRepository(workspaceOf({ 'dags/one/dag.py': DAG, 'dags/two/svc.yaml': '' }))).toBeUndefined();
    const empty = workspaceOf({});
    mkdirSync(join(empty, 'dags'));
    expect(await findRepository(empty)).toBeUndefined();
    expect(await findRepository(workspaceOf({ 'a.py': DAG }))).toBeUndefined();
    // That is one project with a folder of its own.
    expect(await findRepository(workspaceOf({ 'dag.py': DAG, 'dags/x.py': DAG }))).toBeUndefined();
    expect(await findRepository(workspaceOf({ 'svc.yaml': 'dag_source: main.py', 'dags/x.py': DAG }))).toBeUndefined();
  });

  it('may have settings of its own in svc.yaml, but none of a single DAG', async () => {
    const root = workspaceOf({
      'dags/a.py': DAG,
      'svc.yaml': 'owner: me\nregistry:\n  url: registry.example.org/dags\n',
    });
    expect(await findRepository(root)).toMatchObject({ project: { owner: 'me' }, hasSettings: true, problems: [] });
    writeFiles(root, { 'svc.yaml': 'dag_id: x\n' });
    expect((await findRepository(root))?.problems).toMatchObject([{ message: expect.stringContaining('dag_id') }]);
    writeFiles(root, { 'svc.yaml': 'ownerr: x\n' });
    expect((await findRepository(root))?.problems).toMatchObject([
      { line: 1, message: expect.stringContaining('ownerr') },
    ]);
  });

  it('keeps what sounds secret out of the artifact', async () => {
    const root = workspaceOf({
      'dags/a.py': DAG,
      Dockerfile: 'FROM apache/airflow:3.2.2\nENV A=1 API_KEY=x AIRFLOW_CONN_DB=postgres://u:p@h PATH=/x SVC_X=1\n',
    });
    const repository = await findRepository(root);
    expect(repository?.env).toEqual({ A: '1' });
    expect(repository?.notes).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/^API_KEY, AIRFLOW_CONN_DB is not recorded/) }),
    ]);
  });
});

describe('.airflowignore', () => {
  const files = { 'dags/a.py': DAG, 'dags/b_test.py': DAG, 'dags/deep/c.py': DAG, 'dags/deep/d.py': DAG };
  const names = async (ignored: Record<string, string>) =>
    (await found(workspaceOf({ ...files, ...ignored }))).map((name) => name.replace('file dags/', ''));

  it('in the glob syntax is as .gitignore: folders, anchors, negation, and further down the last word', async () => {
    expect(await names({ 'dags/.airflowignore': 'deep/\n' })).toEqual(['a.py', 'b_test.py']);
    expect(await names({ 'dags/.airflowignore': '/c.py\n*_test.py\n' })).toEqual(['a.py', 'deep/c.py', 'deep/d.py']);
    expect(await names({ 'dags/.airflowignore': '# all\n*.py\n!d.py\n' })).toEqual(['deep/d.py']);
    expect(await names({ 'dags/.airflowignore': '*.py\n', 'dags/deep/.airflowignore': '!c.py\n' })).toEqual([
      'deep/c.py',
    ]);
  });

  it('in the regexp syntax is searched for anywhere in the path', async () => {
    const cfg = { 'airflow.cfg': '[core]\ndag_ignore_file_syntax = regexp\n' };
    expect(await names({ ...cfg, 'dags/.airflowignore': 'test  # all tests\n^deep$\n' })).toEqual(['a.py']);
    expect(await names({ ...cfg, 'dags/deep/.airflowignore': '^c\n' })).toEqual(['a.py', 'b_test.py', 'deep/d.py']);
    expect(await names({ ...cfg, 'dags/.airflowignore': '(?i)DEEP/(?P<x>c)\n[\n' })).toEqual([
      'a.py',
      'b_test.py',
      'deep/d.py',
    ]);
    const wrong = workspaceOf({ ...files, ...cfg, 'dags/deep/.airflowignore': '# x\n[\n' });
    expect((await discover(wrong))[0]?.repository?.notes).toEqual([
      { file: 'dags/deep/.airflowignore', line: 2, message: expect.stringMatching(/^is no regular expression/) },
    ]);
    const env = { '.env': 'AIRFLOW__CORE__DAG_IGNORE_FILE_SYNTAX=regexp\n' };
    expect(await names({ ...env, 'dags/.airflowignore': 'e+p\n' })).toEqual(['a.py', 'b_test.py']);
  });
});
