/** What the compiler says must arrive at the file and line that the editor has open. */
import { compileUnit } from '@svc/compiler/compile-unit.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { discover } from '@svc/compiler/discover.ts';
import { dagText, workspaceOf } from '@svc/testing/compiler/workspace.ts';
import type { WorkspaceUnit } from '@svc/server/workspace/compiler.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { editorUnit } from './editor-unit.ts';

let compiler: Compiler;
beforeAll(async () => {
  compiler = createCompiler({ python: await pythonEnvironment() });
});
afterAll(() => compiler?.close());

async function unitOf(files: Record<string, string>, refusal?: string): Promise<WorkspaceUnit> {
  const root = workspaceOf(files);
  const [unit] = await discover(root);
  if (!unit) throw new Error('nothing to compile');
  return editorUnit(root, { unit: await compileUnit(compiler, unit), ...(refusal !== undefined && { refusal }) });
}

it.each([
  ['a mistake in a project', { 'team/etl/dag.py': '# dag airflow\nx = (\n' }, 'team/etl/dag.py', 2],
  ['a mistake in a plain file', { 'dags/a.py': '# dag airflow\n\n1 / 0\n' }, 'dags/a.py', 3],
  [
    'a mistake in svc.yaml',
    { 'etl/svc.yaml': 'owner: me\nnothing: 1\n', 'etl/dag.py': dagText('etl') },
    'etl/svc.yaml',
    2,
  ],
  [
    'a mistake in a module that the DAG file imports',
    { 'etl/dag.py': `import helper\n${dagText('etl')}`, 'etl/helper.py': 'x = 1\nraise ValueError("no")\n' },
    'etl/helper.py',
    2,
  ],
])('%s is told with its place in the workspace', async (_what, files, path, line) => {
  const { problems, dagIds } = await unitOf(files);
  expect(problems[0]).toMatchObject({ path, line, severity: 'error' });
  expect(dagIds).toEqual([]);
});

it('a project names its folder, a plain file none; both name their DAGs', async () => {
  expect(await unitOf({ 'team/etl/dag.py': dagText('etl') })).toEqual({
    source: 'team/etl/dag.py',
    folder: 'team/etl',
    dagIds: ['etl'],
    problems: [],
  });
  expect(await unitOf({ 'dags/a.py': dagText('a') })).toMatchObject({
    source: 'dags/a.py',
    folder: null,
    dagIds: ['a'],
  });
  expect(await unitOf({ 'dag.py': dagText('a') })).toMatchObject({ source: 'dag.py', folder: '' });
});

it('what the control plane did not take is a problem of the DAG file', async () => {
  const { problems, dagIds } = await unitOf({ 'a.py': dagText('a') }, 'it is not welcome');
  expect(problems).toMatchObject([{ path: 'a.py', line: null, severity: 'error', message: 'it is not welcome' }]);
  expect(dagIds).toEqual([]);
});
