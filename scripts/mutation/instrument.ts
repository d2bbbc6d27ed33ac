/**
 * Puts all mutants of a source into one text, each behind a switch: `(mutant(7) ? a <= b : a < b)`. So a test can be repeated
 * with another mutant without loading anything again, which takes a hundred times as long as most tests.
 */
import type { Mutant } from './find-mutants.ts';

export type NumberedMutant = Mutant & { readonly id: number };

/** The function that every switch calls: it notes that the place was reached, and says whether its mutant is on. */
export const SWITCH = '__svcMutant';

type Group = { start: number; end: number; isBlock: boolean; mutants: NumberedMutant[]; inner: Group[] };

export function instrument(source: string, mutants: readonly NumberedMutant[]): string {
  return render(source, { start: 0, end: source.length }, nest(mutants));
}

/** Mutants of the same place together, and places within places. */
function nest(mutants: readonly NumberedMutant[]): Group[] {
  const groups = new Map<string, Group>();
  for (const mutant of mutants) {
    const { start, end, isBlock } = mutant;
    const key = `${start}-${end}-${isBlock}`;
    const group = groups.get(key) ?? { start, end, isBlock, mutants: [], inner: [] };
    group.mutants.push(mutant);
    groups.set(key, group);
  }
  const outermost: Group[] = [];
  const open: Group[] = [];
  for (const group of [...groups.values()].sort((a, b) => a.start - b.start || b.end - a.end)) {
    while ((open.at(-1)?.end ?? Infinity) <= group.start) open.pop();
    (open.at(-1)?.inner ?? outermost).push(group);
    open.push(group);
  }
  return outermost;
}

function render(source: string, { start, end }: { start: number; end: number }, groups: readonly Group[]): string {
  let text = '';
  let at = start;
  for (const group of groups) {
    text += source.slice(at, group.start) + switched(source, group);
    at = group.end;
  }
  return text + source.slice(at, end);
}

const isOn = ({ id }: NumberedMutant): string => `${SWITCH}(${id})`;

function switched(source: string, group: Group): string {
  const original = render(source, group, group.inner);
  if (group.isBlock) return `{ if (!(${group.mutants.map(isOn).join(' || ')})) ${original} }`;
  const choices = group.mutants.map((mutant) => `${isOn(mutant)} ? ${mutant.replacement} : `);
  return `(${choices.join('')}${original})`;
}
