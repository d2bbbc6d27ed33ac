import type { UnitProblem } from './compile-unit.ts';

const PLACE = /^([^\s:][^:\n]*\.\w+):(\d+): ([\s\S]+)$/;

/** A warning of the Python side as a problem with a place: the one it begins with, or the file it is about. */
export function warningAt(text: string, source: string): UnitProblem {
  const [, file = source, line, message = text] = PLACE.exec(text) ?? [];
  return { file, line: line === undefined ? null : Number(line), column: null, message, instead: '', traceback: '' };
}
