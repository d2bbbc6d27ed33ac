/**
 * Masks secret values anywhere in a text. rules.ts decides which values are searched for, and value-matcher.ts finds
 * them.
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
      // The trailing newline of a file is not part of what a program prints.
      const secret = value.trim();
      if (!isMaskable(secret) || known.has(secret)) return;
      known.add(secret);
      pending.push(secret); // indexed with the next search, because most secrets are never searched for
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

/** Masks the values of all sets, also in percent-encoded and backslash-escaped text. */
export function maskValues(text: string, sets: readonly SecretSet[]): string {
  const found = sets.flatMap((set) => set.find(text));
  for (const decoding of ENCODINGS) {
    const view = atOnce(decoding(text));
    if (!view) continue;
    for (const interval of sets.flatMap((set) => set.find(view.text))) found.push(inOriginal(interval, view));
  }
  return cut(text, found);
}

/** Number of characters that are searched in one turn. */
const PIECE = 64 * 1024;

/** Does the same for large texts, in turns with other work. */
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
    // Adjacent intervals become one mask. The number of masks must not reveal how many secrets were joined.
    if (start > done) out += text.slice(Math.max(done, 0), start) + MASK;
    done = Math.max(done, end);
  }
  return out + text.slice(done);
}

interface DecodedView {
  readonly text: string;
  /** For every decoded character and for the end: its start in the original text. */
  readonly origin: number[];
}

const inOriginal = ([start, end]: Interval, { origin }: DecodedView): Interval => [
  origin[start] ?? 0,
  origin[end] ?? origin.at(-1) ?? 0,
];

/** Yields after every piece of the text, so that other work can run. */
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
 * Escaped text is decoded before the search. Each URL part and each library escapes another set of characters, so the
 * encoded forms of a secret cannot be listed.
 */
const ENCODINGS: readonly ((text: string, piece?: number) => Decoding)[] = [percentDecoded, backslashDecoded];

function* percentDecoded(text: string, piece = Infinity): Decoding {
  if (!text.includes('%')) return undefined;
  // Each match is one UTF-8 sequence, so that every decoded character has its own position.
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
