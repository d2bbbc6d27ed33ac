import { isSensitiveFieldName } from '@svc/spec/sensitive-names.ts';
import { MASK, maskCredentials } from './credential-patterns.ts';
import { maskDeep } from './mask-deep.ts';
import { ValueMatcher } from './value-matcher.ts';
import type { Interval } from './value-matcher.ts';

/** Shorter values would blank out ordinary words, and protect nothing: they can be guessed. */
const MIN_SECRET_LENGTH = 4;

/** A line of a multi-line secret (a PEM body) is a secret of its own, since readers print such text line by line. */
const MIN_SECRET_LINE_LENGTH = 16;

export interface SecretRegistry {
  /** Makes a value unprintable for good: what the operator configured. */
  add(value: string): void;
  /**
   * Makes a value that passes through unprintable for as long as it can still turn up: what a request brings along.
   * Bounded, because requests are not.
   */
  addPassing(value: string): void;
  /** Masks known values in every encoding we know of, and whatever looks like a credential. */
  redact(text: string): string;
  /** The same for every string inside a value, and for whole values whose key has a sensitive name. Returns a copy. */
  redactDeep(value: unknown): unknown;
}

/**
 * Characters of passing secrets per generation; the last two generations are known. An index takes about nine bytes per
 * character, so they stay below 40 MB together, and hold what tens of thousands of writes brought along.
 */
const GENERATION_CHARACTERS = 2 * 1024 * 1024;

export function createSecretRegistry(): SecretRegistry {
  const configured = createSecretSet();
  let passing = createSecretSet();
  let passedBefore = createSecretSet();

  const redact = (text: string): string => {
    const sets = [configured, passing, passedBefore].filter((set) => set.size() > 0);
    return maskCredentials(sets.length === 0 ? text : maskValues(text, sets));
  };

  return {
    add: (value) => configured.add(value),
    addPassing(value) {
      passing.add(value);
      if (passing.characters() < GENERATION_CHARACTERS) return;
      passedBefore = passing;
      passing = createSecretSet();
    },
    redact,
    redactDeep: (value) => maskDeep({ value, text: redact, isSensitive: isSensitiveFieldName }),
  };
}

type SecretSet = {
  add(value: string): void;
  size(): number;
  characters(): number;
  find(text: string): Interval[];
};

function createSecretSet(): SecretSet {
  const matcher = new ValueMatcher();
  const known = new Set<string>();
  let pending: string[] = [];
  let characters = 0;

  const index = (secret: string): void => {
    matcher.add(secret);
    if (!secret.includes('\n')) return;
    for (const line of secret.split('\n').map((raw) => raw.trim())) {
      if (line.length >= MIN_SECRET_LINE_LENGTH && !line.startsWith('-----')) matcher.add(line);
    }
  };

  return {
    add(value) {
      // A file's trailing newline is not part of what a program prints.
      const secret = value.trim();
      if (secret.length < MIN_SECRET_LENGTH || known.has(secret)) return;
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

function maskValues(text: string, sets: readonly SecretSet[]): string {
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
