/** Compares the rendered template fields of a replay with those of the try. */
import { isDeepStrictEqual } from 'node:util';
import { MASK } from './masked-values.ts';
import type { LocalTask } from './run-locally.ts';

export type RenderedDifference = { field: string; recorded: unknown; replayed: unknown };

const LONGEST = 200;

type Fields = Readonly<Record<string, unknown>>;

/** Fields with masks are left out: their texts are not known. */
export function renderedDifferences(recorded: Fields | null, task: LocalTask | undefined): RenderedDifference[] {
  if (recorded === null || task === undefined) return [];
  return Object.entries(recorded).flatMap(([field, was]): RenderedDifference[] => {
    const is = task.rendered[field] ?? null;
    if (JSON.stringify(was ?? null).includes(MASK) || isDeepStrictEqual(comparable(was ?? null), comparable(is)))
      return [];
    return [{ field, recorded: was, replayed: is }];
  });
}

/** The address of an object differs in each process. */
const comparable = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/ at 0x[\da-f]+/g, ''));

export function differenceText({ field, recorded, replayed }: RenderedDifference): string {
  return `the template field ${field} is ${textOf(replayed)} here, and was ${textOf(recorded)} in the try`;
}

const textOf = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};
