/**
 * Secret values, masked wherever they stand in text. Which values are worth looking for is in rules.ts; how they are found, in
 * value-matcher.ts.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MASK, MIN_LINE_LENGTH, isMaskable } from './rules.ts';
import { ValueMatcher } from './value-matcher.ts';
import type { Interval, MatcherOptions, Part } from './value-matcher.ts';

export type SecretSet = {
  add(value: string): void;
  size(): number;
  characters(): number;
  find(text: string, part?: Part): Interval[];
};

export function createSecretSet(options: MatcherOptions = {}): SecretSet {
  const matcher = new ValueMatcher(options);
  const known = new Set<string>();
  let pending: string[] = [];
  let characters = 0;

  const index = (secret: string): void => {
    matcher.add(secret);
    if (!secret.includes('\n')) return;
    for (const line of secret.split('\n').map((raw) => raw.trim())) {
      if (line.length >= MIN_LINE_LENGTH && !line.startsWith('-----')) matcher.add(line);
    }
  };

  return {
    add(value) {
      // A file's trailing newline is not part of what a program prints.
      const secret = value.trim();
      if (!isMaskable(secret) || known.has(secret)) return;
      known.add(secret);
      pending.push(secret); // indexed when the next text is looked at: most secrets are never looked for
      characters += secret.length;
    },
    size: () => known.size,
    characters: () => characters,
    find(text, part) {
      for (const secret of pending) index(secret);
      pending = [];
      return matcher.find(text, part);
    },
  };
}

/** Masks what is in any of the sets, in every encoding we know of. */
export function maskValues(text: string, sets: readonly SecretSet[]): string {
  const found = sets.flatMap((set) => set.find(text));
  for (const decoding of ENCODINGS) {
    const view = atOnce(decoding(text));
    if (!view) continue;
    for (const interval of sets.flatMap((set) => set.find(view.text))) found.push(inOriginal(interval, view));
  }
  return cut(text, found);
}

/** Characters that are looked through in one turn: 12 ms for what takes longest. */
const PIECE = 64 * 1024;

/** The same for large texts, and others get their turn in between: a MiB takes 10 to 200 ms. */
export async function maskValuesInTurns(text: string, sets: readonly SecretSet[], piece = PIECE): Promise<string> {
  if (text.length <= piece) return maskValues(text, sets);
  const found = await findInTurns(text, sets, piece);
  for (const decoding of ENCODINGS) {
    const view = await inTurns(decoding(text, piece));
    if (!view) continue;
    for (const interval of await findInTurns(view.text, sets, piece)) found.push(inOriginal(interval, view));
  }
  return cut(text, found);
}

async function findInTurns(text: string, sets: readonly SecretSet[], piece: number): Promise<Interval[]> {
  const found: Interval[] = [];
  for (const set of sets) {
    let covered = 0;
    for (let from = 0; from < text.length; from += piece) {
      for (const interval of set.find(text, { from, to: from + piece, covered })) {
        covered = Math.max(covered, interval[1]);
        found.push(interval);
      }
      await nextTurn();
    }
  }
  return found;
}

/** Replaces the union of the intervals, so that overlapping secrets leave no remainder. */
function cut(text: string, intervals: Interval[]): string {
  if (intervals.length === 0) return text;
  intervals.sort((a, b) => a[0] - b[0]);
  let out = '';
  let done = -1;
  for (const [start, end] of intervals) {
    // Touching intervals become one mask: the number of masks must not tell how many secrets were joined.
    if (start > done) out += text.slice(Math.max(done, 0), start) + MASK;
    done = Math.max(done, end);
  }
  return out + text.slice(done);
}

interface DecodedView {
  readonly text: string;
  /** For every decoded character, and for the end, where it began in the original. */
  readonly origin: number[];
}

const inOriginal = ([start, end]: Interval, { origin }: DecodedView): Interval => [
  origin[start] ?? 0,
  origin[end] ?? origin.at(-1) ?? 0,
];

/** Stops after every piece of the text, so that others can have their turn. */
type Decoding = Generator<undefined, DecodedView | undefined>;

function atOnce(decoding: Decoding): DecodedView | undefined {
  for (;;) {
    const { done, value } = decoding.next();
    if (done) return value;
  }
}

async function inTurns(decoding: Decoding): Promise<DecodedView | undefined> {
  for (;;) {
    const { done, value } = decoding.next();
    if (done) return value;
    await nextTurn();
  }
}

/**
 * Escaped text is matched in its decoded form. There are too many half-encodings (each URL part, each library escapes another
 * set of characters) to list the encoded forms of a secret instead.
 */
const ENCODINGS: readonly ((text: string, piece?: number) => Decoding)[] = [percentDecoded, backslashDecoded];

function* percentDecoded(text: string, piece = Infinity): Decoding {
  if (!text.includes('%')) return undefined;
  // One match per UTF-8 sequence, so that each decoded character knows its own place.
  return yield* decodedView({
    text,
    piece,
    escape:
      /%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-7](?:%[89ab][0-9a-f]){3}/gi,
    decode: (escaped) => {
      try {
        return decodeURIComponent(escaped);
      } catch {
        return escaped;
      }
    },
  });
}

const BACKSLASH_LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function* backslashDecoded(text: string, piece = Infinity): Decoding {
  if (!text.includes('\\')) return undefined;
  return yield* decodedView({
    text,
    piece,
    escape: /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[^ux])/gi,
    decode: (escaped) => {
      const letter = escaped.charAt(1);
      if (escaped.length > 2) return String.fromCharCode(Number.parseInt(escaped.slice(2), 16));
      return BACKSLASH_LETTERS[letter] ?? letter;
    },
  });
}

function* decodedView(options: {
  text: string;
  piece: number;
  escape: RegExp;
  decode: (escaped: string) => string;
}): Decoding {
  const { text, piece, escape, decode } = options;
  let decoded = '';
  let last = 0;
  let stopAt = piece;
  const origin: number[] = [];
  for (const match of text.matchAll(escape)) {
    for (let i = last; i < match.index; i += 1) origin.push(i);
    const plain = decode(match[0]);
    for (let i = 0; i < plain.length; i += 1) origin.push(match.index);
    decoded += text.slice(last, match.index) + plain;
    last = match.index + match[0].length;
    if (last < stopAt) continue;
    yield undefined;
    stopAt = last + piece;
  }
  if (last === 0) return undefined;
  for (let i = last; i <= text.length; i += 1) origin.push(i);
  return { text: decoded + text.slice(last), origin };
}
