import { distance } from 'fastest-levenshtein';

const MAX_NAMED = 5;
const MAX_LENGTH = 100;
/** The message lists at most this many known names. A DAG may have thousands of tasks. */
const MAX_KNOWN = 150;

/**
 * Describes all unknown names and all known ones, for example:
 *
 *   unknown field "emial" (did you mean "email"?); known: password, email
 */
export function describeUnknown(input: {
  /** The noun for the names, for example `field`. */
  word: string;
  sent: readonly string[];
  known: readonly string[];
  inside: string;
}): string {
  const { word, sent, known, inside } = input;
  const unknown = sent.filter((name) => !known.includes(name));
  const named = unknown.slice(0, MAX_NAMED).map((name) => `"${name.slice(0, MAX_LENGTH)}"${guess(name, known)}`);
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  const allowed =
    known.length === 0
      ? `there are no ${word}s here`
      : `known ${word}s: ${known.slice(0, MAX_KNOWN).join(', ')}${known.length > MAX_KNOWN ? ` and ${known.length - MAX_KNOWN} more` : ''}`;
  return `unknown ${word}${unknown.length === 1 ? '' : 's'} ${named.join(', ')}${more}${inside}; ${allowed}`;
}

/** Suggests a known name only if it shares most of its letters. Suggesting `id` for `x` would mislead the reader. */
function guess(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : ` (did you mean "${nearest}"?)`;
}

export function nearestName(name: string, known: readonly string[]): string | undefined {
  // The length is limited, because an edit distance costs the product of both lengths.
  const word = name.slice(0, MAX_LENGTH).toLowerCase();
  const [best] = known
    .map((candidate) => ({ candidate, cost: costOf(candidate.toLowerCase(), word) }))
    .sort((a, b) => a.cost - b.cost);
  return best !== undefined && best.cost <= Math.min(3, (word.length + 1) / 3) ? best.candidate : undefined;
}

/** Counts a truncated or extended name as one mistake. */
function costOf(candidate: string, word: string): number {
  const [short, long] = candidate.length < word.length ? [candidate, word] : [word, candidate];
  const isPart = short.length >= 3 && short.length * 2 >= long.length && long.startsWith(short);
  return isPart ? 1 : distance(candidate, word);
}
