import { distance } from 'fastest-levenshtein';

const MAX_NAMED = 5;
const MAX_LENGTH = 100;
/** A DAG may have thousands of tasks. */
const MAX_KNOWN = 150;

/** `unknown field "emial" (did you mean "email"?); known: password, email`: every unknown name, and all there is to choose from. */
export function describeUnknown(input: {
  /** What these are names of. */
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

/** A guess must share most of its letters: `id` for `x` would send the reader the wrong way. */
function guess(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : ` (did you mean "${nearest}"?)`;
}

export function nearestName(name: string, known: readonly string[]): string | undefined {
  const word = name.slice(0, MAX_LENGTH).toLowerCase(); // bounded: a distance costs the product of the lengths
  const [best] = known
    .map((candidate) => ({ candidate, cost: costOf(candidate.toLowerCase(), word) }))
    .sort((a, b) => a.cost - b.cost);
  return best !== undefined && best.cost <= Math.min(3, (word.length + 1) / 3) ? best.candidate : undefined;
}

/** A name cut short, or one with something added, is one mistake. */
function costOf(candidate: string, word: string): number {
  const [short, long] = candidate.length < word.length ? [candidate, word] : [word, candidate];
  const isPart = short.length >= 3 && short.length * 2 >= long.length && long.startsWith(short);
  return isPart ? 1 : distance(candidate, word);
}
