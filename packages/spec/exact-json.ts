/**
 * JSON that keeps the digits of its numbers.
 *
 * What authors write (conf, params, values of tasks, extra) must stay unchanged. 9007199254740993 must not come back as
 * 9007199254740992, and 1.0 must not become 1, which is another type in Python. A number that JavaScript would write
 * differently is read as an object that `JSON.stringify` writes unchanged (`JSON.rawJSON`). All other numbers are
 * ordinary numbers. A tree that was read here can therefore be written without further care. Only code that uses a
 * number must check its type.
 */

declare global {
  /** Part of the language since 2025 and of Node 24. The library of the TypeScript compiler does not have it yet. */
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A number with its digits as written. */
export type RawNumber = { readonly rawJSON: string };

export const isRawNumber = (value: unknown): value is RawNumber => JSON.isRawJSON(value);

/**
 * Matches a number that JavaScript may write differently: one with sixteen or more digits, an exponent, a fraction that
 * ends in 0, a fraction that starts with many zeros, or a signed zero. It may match inside a text, which only costs
 * time. It does not match times of day, because the next character must be one that can follow a number.
 */
const DELICATE =
  /(?:^|[[:,])[ \t\n\r]*-?(?:\d[\d.]{15,}|\d[\d.]{0,15}[eE][+-]?\d+|\d{1,15}\.\d{0,15}0|0\.0{5}\d{0,15}|(?<=-)0)(?=[ \t\n\r,\]}eE]|$)/;

export const mayHoldRawNumbers = (text: string): boolean => DELICATE.test(text);

/** Parses like JSON.parse and throws the same errors. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayHoldRawNumbers(text) ? withDigits(text, value) : value;
}

/** A random prefix that no text of an author starts with. */
const MARK = `\u0002${crypto.randomUUID()} `;
const MARK_IN_JSON = JSON.stringify(MARK).slice(1, -1);

/**
 * Reads delicate numbers as marked texts and finds them again in the tree. A reviver of JSON.parse sees every value
 * with its source, which is ten times slower (`npm run bench -- exact-json`).
 */
function withDigits(text: string, value: unknown): unknown {
  const marked = markNumbers(text);
  return marked === text ? value : unmark(JSON.parse(marked));
}

const QUOTE_OR_NUMBER = /"|-?\d[\d.eE+-]*/g;

/** Needs a text that JSON.parse has accepted. */
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

/** Returns the position after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

/** Works in place and keeps its own stack, because hostile nesting would overflow the call stack. */
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

/** The property is defined instead of assigned, because an author may use the key __proto__. */
const OWN = { enumerable: true, configurable: true, writable: true };

const isMarked = (value: unknown): value is string => typeof value === 'string' && value.startsWith(MARK);

const rawNumber = (text: string): RawNumber => JSON.rawJSON(text.slice(MARK.length));

/** Returns the nearest JavaScript number. */
export const nearestNumber = ({ rawJSON }: RawNumber): number => Number(rawJSON);

/**
 * Returns a copy with ordinary numbers only, for code that computes with them. Returns the tree itself if it has no
 * others.
 */
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

/** The longest exact form of a double has this many digits. */
const MAX_DIGITS = 1_100;

/**
 * Returns for the author why a number is refused: a program that computes with doubles would confuse it with another
 * number.
 */
export function numberProblem({ rawJSON: text }: RawNumber): string | undefined {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  if (text.length > MAX_DIGITS) return `${shown} has more than ${MAX_DIGITS} digits: write it as a string`;
  const value = Number(text);
  if (!Number.isFinite(value)) return `${shown} is beyond ±1.797e308, where numbers end: write it as a string`;
  const isZero = !/[1-9]/.test(text.split(/[eE]/, 1)[0] ?? '');
  if (value === 0 && !isZero) return `${shown} is nearer to 0 than numbers go (5e-324): write it as a string`;
  return undefined;
}

/** Compares two JSON numbers exactly, with any number of digits. The result is negative, 0 or positive. */
export function compareNumbers(a: string, b: string): number {
  const [left, right] = [decimalOf(a), decimalOf(b)];
  const scale = Math.max(left.scale, right.scale);
  const difference =
    left.digits * 10n ** BigInt(scale - left.scale) - right.digits * 10n ** BigInt(scale - right.scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** True if the first number is a whole multiple of the second. */
export function isMultipleOf(a: string, b: string): boolean {
  const [left, right] = [decimalOf(a), decimalOf(b)];
  const scale = Math.max(left.scale, right.scale);
  const divisor = right.digits * 10n ** BigInt(scale - right.scale);
  return divisor === 0n || (left.digits * 10n ** BigInt(scale - left.scale)) % divisor === 0n;
}

/** The value is `digits` divided by ten to the power of `scale`. */
function decimalOf(text: string): { digits: bigint; scale: number } {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = BigInt(`${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  // A zero may have a huge exponent. Any other exponent is bounded, because numberProblem has refused larger ones.
  if (digits === 0n) return { digits, scale: 0 };
  const signed = sign === '-' ? -digits : digits;
  return scale >= 0 ? { digits: signed, scale } : { digits: signed * 10n ** BigInt(-scale), scale: 0 };
}
