/** Reports the results of compiling to people and to programs. */
import { join, relative } from 'node:path';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import type { UnitProblem } from '@svc/compiler/reading/unit-problem.ts';
import { renderProblem } from '@svc/compiler/render-problems.ts';
import { canonicalHash } from '@svc/spec/canonical.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { styled } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { count } from '../output/wording.ts';

/** Returns the path that the person would type in the current directory. */
const shownPath = ({ unit }: CompiledUnit, file: string): string => {
  const path = join(unit.root, file);
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
};

/** Prints problems and warnings to standard error in the form of compilers, so that editors can jump to them. */
export function printProblems({ stderr }: CliContext, units: readonly CompiledUnit[]): void {
  const print = (unit: CompiledUnit, problem: UnitProblem, kind: 'error' | 'warning'): void => {
    const text = renderProblem(problem, { path: (file) => shownPath(unit, file), label: `${kind}: ` });
    const label = styled(stderr, kind === 'error' ? 'red' : 'yellow', `${kind}:`);
    // Text of a file must not control the terminal, so only the label has colour.
    const [first = '', ...rest] = text.split('\n').map(printable);
    stderr.write(`${[first.replace(`: ${kind}:`, () => `: ${label}`), ...rest].join('\n')}\n`);
  };
  for (const unit of units) {
    for (const warning of unit.warnings) print(unit, warning, 'warning');
    for (const problem of unit.ok ? [] : unit.problems) print(unit, problem, 'error');
  }
}

export const failedOf = (units: readonly CompiledUnit[]): CompiledUnit[] => units.filter((unit) => !unit.ok);

/** The error of a command that has found and printed problems. */
export function problemsError(units: readonly CompiledUnit[]): CliError {
  const problems = units.reduce((sum, unit) => sum + (unit.ok ? 0 : unit.problems.length), 0);
  const where = units.length === 1 ? '' : ` in ${failedOf(units).length} of ${units.length} places`;
  return new CliError(`${count(problems, 'problem')}${where}`);
}

const problemJson = (unit: CompiledUnit, problem: UnitProblem) => ({
  file: shownPath(unit, problem.file),
  line: problem.line,
  column: problem.column,
  message: problem.message,
  instead: problem.instead || null,
});

export const unitJson = (unit: CompiledUnit) => ({
  name: unit.unit.name,
  kind: unit.unit.kind,
  ok: unit.ok,
  seconds: unit.seconds,
  dags: (unit.ok ? unit.artifacts : []).map(({ dagId, spec }) => ({
    dag_id: dagId,
    tasks: spec.tasks.length,
    sha256: canonicalHash(spec),
  })),
  problems: (unit.ok ? [] : unit.problems).map((problem) => problemJson(unit, problem)),
  warnings: unit.warnings.map((warning) => problemJson(unit, warning)),
});
