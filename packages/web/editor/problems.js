// What the compiler says, at its lines and in a list.
import { dagPage } from './api.js';
import { element, icon } from './dom.js';
/** @import { Monaco, Problem, Unit } from '../browser.d.ts' */
/** @import { Buffers } from './buffers.js' */

/**
 * The projects and DAG files that a file belongs to.
 * @param {readonly Unit[]} units
 * @param {string} path
 */
export const unitsOf = (units, path) =>
  units.filter(
    ({ source, folder }) => source === path || (folder !== null && (folder === '' || path.startsWith(`${folder}/`))),
  );

/**
 * The worst thing in each file that has any.
 * @param {readonly Unit[]} units
 */
export function marksOf(units) {
  /** @type {Map<string, Problem['severity']>} */
  const marks = new Map();
  for (const { path, severity } of units.flatMap(({ problems }) => problems)) {
    if (marks.get(path) !== 'error') marks.set(path, severity);
  }
  return marks;
}

/**
 * Markers of every open file, also of those whose problems are gone.
 * @param {{ monaco: Monaco, buffers: Buffers, units: readonly Unit[] }} input
 */
export function setMarkers({ monaco, buffers, units }) {
  const problems = units.flatMap((unit) => unit.problems);
  for (const { path, model } of buffers.all()) {
    const markers = problems
      .filter((problem) => problem.path === path)
      .map((problem) => {
        const line = Math.min(Math.max(problem.line ?? 1, 1), model.getLineCount());
        return {
          severity: monaco.MarkerSeverity[problem.severity === 'error' ? 'Error' : 'Warning'],
          message: problem.hint ? `${problem.message}\n${problem.hint}` : problem.message,
          source: 'svc',
          startLineNumber: line,
          endLineNumber: line,
          startColumn: problem.column ?? (model.getLineFirstNonWhitespaceColumn(line) || 1),
          endColumn: model.getLineMaxColumn(line),
        };
      });
    monaco.editor.setModelMarkers(model, 'svc', markers);
  }
}

/**
 * @param {Problem} problem
 * @param {(problem: Problem) => void} onGo
 */
function problemRow(problem, onGo) {
  const place = problem.line === null ? problem.path : `${problem.path}:${problem.line}`;
  return element(
    'button',
    { type: 'button', className: `line ${problem.severity}`, onclick: () => onGo(problem) },
    icon(problem.severity),
    element(
      'span',
      { className: 'text' },
      element('span', { className: 'message' }, problem.message),
      problem.hint ? element('span', { className: 'hint' }, problem.hint) : undefined,
    ),
    element('span', { className: 'place' }, place),
  );
}

/** @param {string[]} dagIds */
function readyRow(dagIds) {
  const links = dagIds.flatMap((dagId, index) => [
    ...(index > 0 ? [', '] : []),
    element('a', { href: dagPage(dagId) }, dagId),
  ]);
  return element(
    'div',
    { className: 'line success' },
    icon('success'),
    element(
      'span',
      { className: 'text' },
      dagIds.length === 1 ? 'Compiled and live: ' : 'Compiled and live, all of: ',
      ...links,
    ),
  );
}

/**
 * The rows for a file: its problems, or that all is well.
 * @param {{ units: readonly Unit[], path: string, onGo: (problem: Problem) => void }} input
 */
export function outcomeRows({ units, path, onGo }) {
  const mine = unitsOf(units, path);
  const problems = mine.flatMap((unit) => unit.problems);
  const dagIds = mine.flatMap((unit) => unit.dag_ids);
  return [...problems.map((problem) => problemRow(problem, onGo)), ...(dagIds.length > 0 ? [readyRow(dagIds)] : [])];
}
