/**
 * Finds known secret values in text.
 *
 * Each secret becomes a few patterns:
 *
 * - the value itself, and its form with `+` for spaces,
 * - its first and its last half, so that a truncated value is still found,
 * - its base64 form at each of the three byte alignments, so that it is found inside a longer encoded text such as a
 *   Basic header.
 *
 * A bitmap over the first four characters of every pattern rejects almost every position of a text with one array read.
 * At any other position, prefixes of 4, 16, 64, ... characters are looked up in a hash table, until no pattern starts
 * with the prefix. Each prefix lists the lengths of the patterns that end before the next prefix. The cost is therefore
 * linear in the text for any number of secrets, even if thousands share a prefix (`eyJhbGciOi...`). Adding a secret
 * rebuilds nothing, unlike in an Aho-Corasick automaton.
 */
const FIRST_WINDOW = 4;
const WINDOW_STEP = 4;
const FILTER_BITS = 21;

/** A shorter half is an ordinary word and gets no pattern. */
const MIN_HALF_LENGTH = 8;

/** The found text is [start, end). */
export type Interval = [start: number, end: number];

/** The part of a text in which matches may start. Text before `covered` is masked already. */
export type Part = { readonly from: number; readonly to: number; readonly covered: number };

const WHOLE: Part = { from: 0, to: Infinity, covered: 0 };

interface Pattern {
  /** How to extend a match: not at all, to the whole base64 run, or along the rest of a truncated value. */
  readonly beyond: 'nothing' | 'run' | 'after' | 'before';
  /** The secret that a half belongs to. Undefined if several secrets share that half. */
  readonly source: string | undefined;
}

interface Match {
  readonly length: number;
  readonly pattern: Pattern;
}

export type MatcherOptions = {
  /** Also finds a truncated value by its half. For whole values, this costs a third of the index. */
  findsHalves?: boolean;
};

export class ValueMatcher {
  readonly #findsHalves: boolean;
  readonly #filter = new Uint8Array(2 ** (FILTER_BITS - 3));
  readonly #lengthsByPrefix = new Map<string, number[]>();
  readonly #patterns = new Map<string, Pattern>();

  constructor({ findsHalves = true }: MatcherOptions = {}) {
    this.#findsHalves = findsHalves;
  }

  add(secret: string): void {
    this.#addPattern(secret, { beyond: 'nothing', source: undefined });
    if (secret.includes(' ')) this.#addPattern(secret.replaceAll(' ', '+'), { beyond: 'nothing', source: undefined });
    for (const core of base64Cores(secret)) this.#addPattern(core, { beyond: 'run', source: undefined });
    const half = Math.ceil(secret.length / 2);
    if (!this.#findsHalves || half < MIN_HALF_LENGTH) return;
    this.#addPattern(secret.slice(0, half), { beyond: 'after', source: secret });
    this.#addPattern(secret.slice(-half), { beyond: 'before', source: secret });
  }

  /**
   * Returns intervals in order of discovery; they may overlap. With `part`, it returns only those that start in that
   * part.
   */
  find(text: string, { from, to, covered: before }: Part = WHOLE): Interval[] {
    const found: Interval[] = [];
    let covered = before;
    let key = 0;
    const end = Math.min(text.length, to + FIRST_WINDOW - 1);
    for (let next = from; next < end; next += 1) {
      key = rolled(key, text.charCodeAt(next));
      const at = next - FIRST_WINDOW + 1;
      const slot = slotOf(key);
      if (at < from || ((this.#filter[slot >>> 3] ?? 0) & (1 << (slot & 7))) === 0) continue;
      const match = this.#longestAt(text, at);
      // A match inside masked text, such as the second half of a whole value, must not extend beyond it.
      if (match === undefined || at + match.length <= covered) continue;
      const interval = reach({ text, start: at, end: at + match.length, pattern: match.pattern, covered });
      covered = Math.max(covered, interval[1]);
      found.push(interval);
    }
    return found;
  }

  #longestAt(text: string, at: number): Match | undefined {
    let best: Match | undefined;
    for (let window = FIRST_WINDOW; at + window <= text.length; window *= WINDOW_STEP) {
      const lengths = this.#lengthsByPrefix.get(text.slice(at, at + window));
      if (lengths === undefined) break;
      for (const length of lengths) {
        if (at + length > text.length || length <= (best?.length ?? 0)) continue;
        const pattern = this.#patterns.get(text.slice(at, at + length));
        if (pattern !== undefined) best = { length, pattern };
      }
    }
    return best;
  }

  #addPattern(text: string, pattern: Pattern): void {
    const existing = this.#patterns.get(text);
    this.#patterns.set(text, existing === undefined ? pattern : stronger(existing, pattern));
    if (existing !== undefined) return;
    const slot = slotOf(keyOf(text));
    this.#filter[slot >>> 3] = (this.#filter[slot >>> 3] ?? 0) | (1 << (slot & 7));
    for (let window = FIRST_WINDOW; window <= text.length; window *= WINDOW_STEP) {
      const prefix = text.slice(0, window);
      let lengths = this.#lengthsByPrefix.get(prefix);
      if (lengths === undefined) this.#lengthsByPrefix.set(prefix, (lengths = []));
      const isLast = window * WINDOW_STEP > text.length;
      if (isLast && !lengths.includes(text.length)) lengths.push(text.length);
    }
  }
}

/**
 * Merges two roles of the same text. The role that masks more wins. A half that several secrets share belongs to none
 * of them.
 */
function stronger(a: Pattern, b: Pattern): Pattern {
  if (a.beyond === 'nothing') return b;
  if (b.beyond === 'nothing') return a;
  if (a.beyond !== b.beyond) return { beyond: 'run', source: undefined };
  return a.source === b.source ? a : { beyond: a.beyond, source: undefined };
}

function reach(options: { text: string; start: number; end: number; pattern: Pattern; covered: number }): Interval {
  const { text, pattern, covered } = options;
  let { start, end } = options;
  const { beyond, source } = pattern;
  const inRun = (index: number): boolean => /[\w+/=.-]/.test(text.charAt(index));
  if (source === undefined) {
    // The neighbours of an encoded value contain bits of its first and last byte, so the whole run is masked.
    if (beyond === 'run' || beyond === 'before') while (start > covered && inRun(start - 1)) start -= 1;
    if (beyond === 'run' || beyond === 'after') while (end < text.length && inRun(end)) end += 1;
  } else if (beyond === 'after') {
    while (end < text.length && end - start < source.length && text[end] === source[end - start]) end += 1;
  } else if (beyond === 'before') {
    while (start > covered && text[start - 1] === source[source.length - (end - start) - 1]) start -= 1;
  }
  return [start, end];
}

/**
 * Hashes the last four characters. Four shifts of 7 bits fill 28 bits, so the next shift removes the oldest character.
 */
function rolled(key: number, code: number): number {
  return ((key << 7) ^ code) & 0x0fffffff;
}

function keyOf(text: string): number {
  let key = 0;
  for (let i = 0; i < FIRST_WINDOW; i += 1) key = rolled(key, text.charCodeAt(i));
  return key;
}

function slotOf(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

/**
 * Returns the base64 characters that depend on the secret alone, for each position of its first byte in a group of
 * three.
 */
function base64Cores(secret: string): Set<string> {
  const bytes = Buffer.from(secret, 'utf8');
  const cores = new Set<string>();
  for (let shift = 0; shift < 3; shift += 1) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const from = Math.ceil((shift * 8) / 6);
    const to = Math.floor(((shift + bytes.length) * 8) / 6);
    const core = encoded.slice(from, to);
    if (core.length < FIRST_WINDOW) continue;
    cores.add(core);
    cores.add(core.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return cores;
}
