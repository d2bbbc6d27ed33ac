/**
 * Secret values, masked wherever they stand in text. Which values are worth looking for is in rules.ts; how they are found, in
 * value-matcher.ts.
 */
import { MASK, MIN_LINE_LENGTH, isMaskable } from './rules.ts';
import { ValueMatcher } from './value-matcher.ts';
import type { Interval, MatcherOptions } from './value-matcher.ts';

export type SecretSet = {
  add(value: string): void;
  size(): number;
  characters(): number;
  find(text: string): Interval[];
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
    find(text) {
      for (const secret of pending) index(secret);
      pending = [];
      return matcher.find(text);
    },
  };
}

/** Masks what is in any of the sets, in every encoding we know of. */
export function maskValues(text: string, sets: readonly SecretSet[]): string {
  const found = sets.flatMap((set) => set.find(text));
  // Escaped text is matched in its decoded form. There are too many half-encodings (each URL part, each library escapes
  // another set of characters) to list the encoded forms of a secret instead.
  for (const view of [percentDecoded(text), backslashDecoded(text)]) {
    if (view === undefined) continue;
    for (const [start, end] of sets.flatMap((set) => set.find(view.text))) {
      found.push([view.origin[start] ?? 0, view.origin[end] ?? text.length]);
    }
  }
  return cut(text, found);
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

function percentDecoded(text: string): DecodedView | undefined {
  if (!text.includes('%')) return undefined;
  // One match per UTF-8 sequence, so that each decoded character knows its own place.
  return decodedView({
    text,
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

function backslashDecoded(text: string): DecodedView | undefined {
  if (!text.includes('\\')) return undefined;
  return decodedView({
    text,
    escape: /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[^ux])/gi,
    decode: (escaped) => {
      const letter = escaped.charAt(1);
      if (escaped.length > 2) return String.fromCharCode(Number.parseInt(escaped.slice(2), 16));
      return BACKSLASH_LETTERS[letter] ?? letter;
    },
  });
}

function decodedView(options: {
  text: string;
  escape: RegExp;
  decode: (escaped: string) => string;
}): DecodedView | undefined {
  const { text, escape, decode } = options;
  let decoded = '';
  let last = 0;
  const origin: number[] = [];
  for (const match of text.matchAll(escape)) {
    for (let i = last; i < match.index; i += 1) origin.push(i);
    const plain = decode(match[0]);
    for (let i = 0; i < plain.length; i += 1) origin.push(match.index);
    decoded += text.slice(last, match.index) + plain;
    last = match.index + match[0].length;
  }
  if (last === 0) return undefined;
  for (let i = last; i <= text.length; i += 1) origin.push(i);
  return { text: decoded + text.slice(last), origin };
}
