/** Converts the outcome of a unit for the editor, with all paths relative to the workspace. */
import { relative, resolve, sep } from 'node:path';
import type { UnitProblem } from '@svc/compiler/reading/unit-problem.ts';
import type { UnitOutcome } from '@svc/compiler/sync-workspace.ts';
import type { WorkspaceProblem, WorkspaceUnit } from '@svc/server/workspace/compiler.ts';

export function editorUnit(workspace: string, { unit, refusal }: UnitOutcome): WorkspaceUnit {
  const place = (file: string): string => {
    const path = relative(workspace, resolve(unit.unit.root, file)).replaceAll(sep, '/');
    return path.startsWith('../') ? file : path; // a file of a library
  };
  const problem = (severity: WorkspaceProblem['severity']) => (found: UnitProblem) => ({
    path: place(found.file),
    line: found.line,
    column: found.column,
    severity,
    message: found.message,
    hint: found.instead,
  });
  const source = place(unit.source);
  const refused: WorkspaceProblem[] =
    refusal === undefined
      ? []
      : [{ path: source, line: null, column: null, severity: 'error', message: refusal, hint: '' }];
  return {
    source,
    folder: unit.unit.kind === 'project' ? place('.') : null,
    dagIds: unit.ok && refusal === undefined ? unit.artifacts.map(({ dagId }) => dagId) : [],
    problems: [
      ...(unit.ok ? [] : unit.problems.flatMap((found) => places(found, unit.unit.root)).map(problem('error'))),
      ...refused,
      ...unit.warnings.map(problem('warning')),
    ],
  };
}

const FRAME = /^ {2}File "([^"]*)", line (\d+)/gm;

/**
 * The compiler reports the line of the DAG file at which an error surfaced. If the error comes from another module of
 * the author, both places are marked, and that module comes first.
 */
function places(found: UnitProblem, root: string): UnitProblem[] {
  const own = [...found.traceback.matchAll(FRAME)].filter(
    ([, file = '']) => file.startsWith(root + sep) && !/[/\\](site-packages|node_modules|\.?venv)[/\\]/.test(file),
  );
  const [, path = '', line] = own.at(-1) ?? [];
  const file = relative(root, path);
  if (path === '' || file === found.file) return [found];
  return [{ ...found, file, line: Number(line), column: null }, found];
}
