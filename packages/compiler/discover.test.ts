import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { discover } from './discover.ts';
import { dagText, workspaceOf } from '@svc/testing/compiler/workspace.ts';

const DAG = dagText('any');
const found = async (path: string) => (await discover(path)).map(({ kind, name }) => `${kind} ${name}`);

describe('a workspace', () => {
  it('is projects and plain DAG files, in the order of their names', async () => {
    const root = workspaceOf({
      'zeta/dag.py': DAG,
      'alpha/svc.yaml': '',
      'team/beta/svc.yaml': '',
      'plain.py': DAG,
      'team/more.py': DAG,
    });
    expect(await found(root)).toEqual([
      'project alpha',
      'file plain.py',
      'project team/beta',
      'file team/more.py',
      'project zeta',
    ]);
  });

  it('ends at a project: what lies below one belongs to it', async () => {
    const root = workspaceOf({ 'etl/svc.yaml': '', 'etl/lib/other.py': DAG, 'etl/inner/svc.yaml': '' });
    expect(await found(root)).toEqual(['project etl']);
  });

  it('leaves out hidden directories, caches, environments and tests, whatever is in them', async () => {
    const names = ['.git', '.venv', 'venv', 'env', 'node_modules', '__pycache__', 'site-packages', 'tests', 'build'];
    const root = workspaceOf(Object.fromEntries(names.map((name) => [`${name}/dag.py`, DAG])));
    expect(await found(root)).toEqual([]);
  });

  it('does not execute helper modules: only files that mention both words are DAG files', async () => {
    const root = workspaceOf({ 'helper.py': 'x = 1', 'about_dags.py': '# dag', 'upper.py': '# DAG of AIRFLOW' });
    expect(await found(root)).toEqual(['file upper.py']);
  });

  it('does not read huge files, which are data and not DAGs', async () => {
    const root = workspaceOf({ 'huge.py': DAG });
    truncateSync(join(root, 'huge.py'), 5 * 1024 * 1024);
    expect(await found(root)).toEqual([]);
  });

  it('does not wait for a pipe that nobody writes to', async () => {
    const root = workspaceOf({ 'a.py': DAG });
    execFileSync('mkfifo', [join(root, 'pipe.py')]);
    expect(await found(root)).toEqual(['file a.py']);
  });

  it('without anything in it is empty, not an error', async () => {
    expect(await discover(workspaceOf({}))).toEqual([]);
  });
});

describe('links', () => {
  it('in a circle come to an end', async () => {
    const root = workspaceOf({ 'sub/a.py': DAG });
    symlinkSync(root, join(root, 'sub', 'up'));
    symlinkSync('self', join(root, 'self'));
    symlinkSync('self.py', join(root, 'self.py'));
    // The file that links to itself is not left out silently: compiling it will say what is wrong.
    expect(await found(root)).toEqual(['file self.py', 'file sub/a.py']);
  });

  it('to a directory elsewhere are followed, as deployments by link swapping need', async () => {
    const elsewhere = workspaceOf({ 'dag.py': DAG });
    const root = workspaceOf({});
    symlinkSync(elsewhere, join(root, 'current'));
    expect(await found(root)).toEqual(['project current']);
  });

  it('to a directory that is here anyway add no second copy, and do not rename the first', async () => {
    const root = workspaceOf({ 'real/dag.py': DAG });
    symlinkSync(join(root, 'real'), join(root, 'alias'));
    expect(await found(root)).toEqual(['project real']);
  });

  it('that lead nowhere are kept, so that compiling reports them', async () => {
    const root = workspaceOf({});
    symlinkSync('gone.py', join(root, 'lost.py'));
    expect(await found(root)).toEqual(['file lost.py']);
  });
});

describe('a path', () => {
  it('of a project is that project, and so are its svc.yaml and its DAG file', async () => {
    const root = workspaceOf({ 'svc.yaml': 'dag_source: main.py', 'main.py': DAG, 'other.py': DAG });
    const project = [`project ${basename(root)}`];
    expect(await found(root)).toEqual(project);
    expect(await found(join(root, 'svc.yaml'))).toEqual(project);
    expect(await found(join(root, 'main.py'))).toEqual(project);
    expect(await found(join(root, 'other.py'))).toEqual(['file other.py']);
  });

  it('that is not there, or is no DAG file, is told apart', async () => {
    const root = workspaceOf({ 'notes.txt': 'dag airflow' });
    await expect(discover(join(root, 'nowhere'))).rejects.toThrow('does not exist');
    await expect(discover(join(root, 'notes.txt'))).rejects.toThrow('does not end with .py');
    mkdirSync(join(root, 'empty'));
    expect(await discover(join(root, 'empty'))).toEqual([]);
  });

  it('of a project without svc.yaml tells which DAG files are overlooked', async () => {
    const root = workspaceOf({ 'dag.py': DAG, 'second.py': DAG, 'helper.py': 'x = 1' });
    expect((await discover(root)).map((unit) => unit.overlooked)).toEqual([['second.py']]);
  });
});
