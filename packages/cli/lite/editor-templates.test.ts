/** What the editor offers to begin with must be something that runs. */
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';

// A script of the page, not of this program: it has no types.
const PAGE_SCRIPT = new URL('../../web/editor/templates.js', import.meta.url).href;
type Templates = { TEMPLATES: { id: string }[]; contentFor(path: string, templateId: string): string };

let compiler: Compiler;
let templates: Templates;
beforeAll(async () => {
  [compiler, templates] = await Promise.all([
    pythonEnvironment().then((python) => createCompiler({ python })),
    import(PAGE_SCRIPT) as Promise<Templates>,
  ]);
});
afterAll(() => compiler?.close());

it.each([
  ['my_dag/dag.py', 'my_dag'],
  ['team/2nd-try/dag.py', '2nd-try'],
  ['dags/what is this & that.py', 'what_is_this_that'],
  ['task.py', 'task'],
  ['dags/nightly-report.py', 'nightly-report'],
  ['class.py', 'class'],
])('every template compiles at %s, as the DAG %s, without a warning', async (path, dagId) => {
  const ids = templates.TEMPLATES.map(({ id }) => id).filter((id) => id !== 'empty');
  expect(ids.length).toBeGreaterThan(1);
  for (const id of ids) {
    const [unit] = await compileWorkspace({
      workspace: workspaceOf({ [path]: templates.contentFor(path, id) }),
      compiler,
    });
    expect(unit, id).toMatchObject({ ok: true, warnings: [], artifacts: [{ dagId }] });
  }
});

it('a new file begins empty when no template is for it or none is wanted', () => {
  expect(templates.contentFor('svc.yaml', 'simple')).toBe('');
  expect(templates.contentFor('helper.py', 'empty')).toBe('');
});
