/**
 * Mutants that survive and need no test, each with the reason. A run counts them as survivors but does not print them, so that
 * the printed list has only mutants that are not judged yet.
 */
import type { Mutant } from './find-mutants.ts';

/** `original` and `replacement` are texts as the report prints them. They stand for every place of the file that has them. */
export type Accepted = {
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
};

const SHOWN = 120;
/** Returns the text in one line, as long as a report shows it. */
export const shortened = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, SHOWN);

export const reasonOf = (mutant: Mutant): string | undefined =>
  ACCEPTED.find((accepted) => isOf(accepted, mutant))?.reason;

export const isOf = (accepted: Accepted, { file, original, replacement }: Mutant): boolean =>
  accepted.file === file &&
  accepted.original === shortened(original) &&
  accepted.replacement === shortened(replacement);

export const ACCEPTED: readonly Accepted[] = [
  {
    file: 'packages/spec/exact-json.ts',
    original: "typeof item === 'object' && item !== null",
    replacement: "((typeof item === 'object') || (item !== null))",
    reason: 'A value that is no list or object is looked at once more and left as it is.',
  },
  {
    file: 'packages/spec/files/yaml-bounds.ts',
    original: "'scalar-source'",
    replacement: '""',
    reason: 'Any word that no branch names takes the default branch.',
  },
  {
    file: 'packages/spec/json-spans.ts',
    original: 'at < text.length',
    replacement: '((at) <= (text.length))',
    reason: 'The text is valid JSON, so a container ends before the text does.',
  },
  {
    file: 'packages/spec/masking/credential-patterns.ts',
    original: "'-----BEGIN '",
    replacement: '""',
    reason: 'The hint only saves the time of a search that finds nothing.',
  },
  {
    file: 'packages/spec/masking/value-matcher.ts',
    original: 'next < end',
    replacement: '((next) <= (end))',
    reason: 'One more position is looked at. What is found there is also found by the next part.',
  },
  {
    file: 'packages/spec/timetables/instant.ts',
    original: 'date === undefined',
    replacement: 'false',
    reason: 'Date.parse gives NaN for such a text, which has the same answer.',
  },
];
