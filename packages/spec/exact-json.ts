/**
 * JSON whose numbers keep their digits.
 *
 * What authors write (conf, params, values of tasks, extra) is theirs: 9007199254740993 must not come back as
 * 9007199254740992, and 1.0 must not become 1, which is another type in Python. A number that JavaScript would write
 * differently is therefore read as an object that `JSON.stringify` writes out as it was (`JSON.rawJSON`); every other one is
 * an ordinary number. So a tree read here can be written without further care, and only who looks at a number must ask.
 */

declare global {
  /** Part of the language since 2025 and of Node 24; the compiler's library does not list it yet. */
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A number as it was written. */
export type RawNumber = { readonly rawJSON: string };

export const isRawNumber = (value: unknown): value is RawNumber => JSON.isRawJSON(value);

/**
 * A number that may not be as JavaScript writes it: sixteen digits and more, an exponent, a fraction that ends in 0 or begins
 * with many, a zero with a sign. May see one inside a text, which costs time and nothing else; times of day are not taken for
 * one, because what follows must be able to follow a number.
 */
const DELICATE =
  /(?:^|[[:,])[ \t\n\r]*-?(?:\d[\d.]{15,}|\d[\d.]{0,15}[eE][+-]?\d+|\d{1,15}\.\d{0,15}0|0\.0{5}\d{0,15}|(?<=-)0)(?=[ \t\n\r,\]}eE]|$)/;

export const mayHoldRawNumbers = (text: string): boolean => DELICATE.test(text);

/** As JSON.parse; throws what it throws. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayHoldRawNumbers(text) ? withDigits(text, value) : value;
}

/** No text that anybody writes begins like this. */
const MARK = `\u0002${crypto.randomUUID()} `;
const MARK_IN_JSON = JSON.stringify(MARK).slice(1, -1);

/**
 * Numbers that need it are read as marked texts, which are then found in the tree. (A reviver sees every value, each with
 * its source: ten times slower for a compiled spec of 10 MB, 3.3 s instead of 0.3; `npm run bench -- exact-json`.)
 */
function withDigits(text: string, value: unknown): unknown {
  const marked = markNumbers(text);
  return marked === text ? value : unmark(JSON.parse(marked));
}

const QUOTE_OR_NUMBER = /"|-?\d[\d.eE+-]*/g;

/** Of text that JSON.parse has accepted. */
function markNumbers(text: string): string {
  let marked = '';
  let copied = 0;
  QUOTE_OR_NUMBER.lastIndex = 0;
  for (let found = QUOTE_OR_NUMBER.exec(text); found !== null; found = QUOTE_OR_NUMBER.exec(text)) {
    const [token] = found;
    if (token === '"') {
      QUOTE_OR_NUMBER.lastIndex = endOfString(text, found.index);
    } else if (String(Number(token)) !== token) {
      marked += `${text.slice(copied, found.index)}"${MARK_IN_JSON}${token}"`;
      copied = found.index + token.length;
    }
  }
  return copied === 0 ? text : marked + text.slice(copied);
}

/** Just behind the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

/** In place; with its own stack, because the call stack is what hostile nesting aims at. */
function unmark(root: unknown): unknown {
  if (isMarked(root)) return rawNumber(root);
  const pending: unknown[] = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) {
      for (const [index, item] of next.entries()) {
        if (isMarked(item)) next[index] = rawNumber(item);
        else if (typeof item === 'object' && item !== null) pending.push(item);
      }
    } else if (typeof next === 'object' && next !== null) {
      const members = next as Record<string, unknown>;
      for (const key of Object.keys(members)) {
        const item = members[key];
        if (isMarked(item)) Object.defineProperty(members, key, { ...OWN, value: rawNumber(item) });
        else if (typeof item === 'object' && item !== null) pending.push(item);
      }
    }
  }
  return root;
}

/** Defined, not assigned: a key of the author's may be __proto__. */
const OWN = { enumerable: true, configurable: true, writable: true };

const isMarked = (value: unknown): value is string => typeof value === 'string' && value.startsWith(MARK);

const rawNumber = (text: string): RawNumber => JSON.rawJSON(text.slice(MARK.length));

/** The nearest JavaScript number. */
export const nearestNumber = ({ rawJSON }: RawNumber): number => Number(rawJSON);

/** A copy with ordinary numbers only, for who computes and does not keep. The tree itself when it has no others. */
export function approximated(value: unknown): unknown {
  if (isRawNumber(value)) return nearestNumber(value);
  if (Array.isArray(value)) {
    const items = value.map(approximated);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, approximated(item)] as const);
  return entries.every(([key, item]) => item === (value as Record<string, unknown>)[key])
    ? value
    : Object.fromEntries(entries);
}

/** As many as the longest exact form of a double has. */
const MAX_DIGITS = 1_100;

/** Why a number cannot be taken, for its author: no program that computes with doubles could tell it from another one. */
export function numberProblem({ rawJSON: text }: RawNumber): string | undefined {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  if (text.length > MAX_DIGITS) return `${shown} has more than ${MAX_DIGITS} digits: write it as a string`;
  const value = Number(text);
  if (!Number.isFinite(value)) return `${shown} is beyond ±1.797e308, where numbers end: write it as a string`;
  const isZero = !/[1-9]/.test(text.split(/[eE]/, 1)[0] ?? '');
  if (value === 0 && !isZero) return `${shown} is nearer to 0 than numbers go (5e-324): write it as a string`;
  return undefined;
}

/** Exact order of two numbers as JSON writes them, however many digits they have: negative, 0 or positive. */
export function compareNumbers(a: string, b: string): number {
  const [left, right] = [decimalOf(a), decimalOf(b)];
  const scale = Math.max(left.scale, right.scale);
  const difference =
    left.digits * 10n ** BigInt(scale - left.scale) - right.digits * 10n ** BigInt(scale - right.scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Whether the first is a whole number of times the second. */
export function isMultipleOf(a: string, b: string): boolean {
  const [left, right] = [decimalOf(a), decimalOf(b)];
  const scale = Math.max(left.scale, right.scale);
  const divisor = right.digits * 10n ** BigInt(scale - right.scale);
  return divisor === 0n || (left.digits * 10n ** BigInt(scale - left.scale)) % divisor === 0n;
}

/** `digits` shifted right by `scale` decimal places. */
function decimalOf(text: string): { digits: bigint; scale: number } {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = BigInt(`${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  // A zero with a huge exponent is a zero; any other exponent is bounded, because the number is one that can be taken.
  if (digits === 0n) return { digits, scale: 0 };
  const signed = sign === '-' ? -digits : digits;
  return scale >= 0 ? { digits: signed, scale } : { digits: signed * 10n ** BigInt(-scale), scale: 0 };
}
