/** Problems the way compilers print them: `etl/svc.yaml:3:5: message`, then what to do, then the traceback. */
import type { UnitProblem } from './compile-unit.ts';

export type RenderOptions = {
  /** From a file of the unit to what is shown; as it is by default. */
  readonly path?: (file: string) => string;
  /** Before the message, such as `warning: `. */
  readonly label?: string;
};

export const renderProblems = (problems: readonly UnitProblem[], options: RenderOptions = {}): string =>
  problems.map((problem) => renderProblem(problem, options)).join('\n');

export function renderProblem(problem: UnitProblem, options: RenderOptions = {}): string {
  const { path = (file) => file, label = '' } = options;
  const { line, column, instead, traceback } = problem;
  const place = [path(problem.file), line, line === null ? null : column].filter((part) => part !== null).join(':');
  return [
    `${place}: ${label}${problem.message}`,
    ...(instead ? [indented(instead)] : []),
    ...(isTelling(problem) ? [indented(traceback.trimEnd())] : []),
  ].join('\n');
}

/** A traceback of one frame, at the place the message names, only repeats it. */
function isTelling({ traceback, message, line }: UnitProblem): boolean {
  const frames = traceback.match(/^ {2}File "/gm)?.length ?? 0;
  return frames > 1 || (frames === 1 && line === null) || (traceback !== '' && !traceback.includes(message));
}

const indented = (text: string): string => text.replaceAll(/^/gm, '    ');
