/** Problems the way compilers print them: `etl/svc.yaml:3:5: message`, then what to do, then the traceback. */
import type { UnitProblem } from './reading/unit-problem.ts';

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
  const { line, column, instead } = problem;
  const place = [path(problem.file), line, line === null ? null : column].filter((part) => part !== null).join(':');
  const source = renderTraceback(problem);
  return [
    `${place}: ${label}${problem.message}`,
    ...(source ? [source] : []),
    ...(instead ? [instead.replaceAll(/^/gm, '    ')] : []),
  ].join('\n');
}

const FRAME = /^ {2}File "([^"]*)", line (\d+).*\n?((?: {4}.*\n?)*)/gm;

/**
 * Python's own modules say nothing to the author and are left out. A single frame at the place of the problem becomes
 * its source line; the exception at the end is the message already.
 */
function renderTraceback({ traceback, line }: UnitProblem): string {
  const frames = [...traceback.matchAll(FRAME)].filter(
    ([, file]) => !/\/lib\/python3[^/]*\/(?!site-packages)/.test(file ?? ''),
  );
  const [only] = frames;
  if (only && frames.length === 1 && Number(only[2]) === line) return only[3]?.trimEnd() ?? '';
  return frames.map(([frame]) => frame.trimEnd().replaceAll(/^/gm, '  ')).join('\n');
}
