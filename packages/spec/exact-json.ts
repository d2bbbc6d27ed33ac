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
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A number as it was written. */
export type RawNumber = { readonly rawJSON: string };

export const isRawNumber = (value: unknown): value is RawNumber => JSON.isRawJSON(value);

/**
 * Where a number stands that may not be as JavaScript writes it: sixteen digits and more, an exponent, a fraction that ends
 * in 0 or begins with many, a zero with a sign. May see one inside a text, which costs time and nothing else.
 */
const DELICATE = /(?:^|[[:,])[ \t\n\r]*-?(?:\d[\d.]{15}|\d+\.?\d*[eE]|\d+\.\d*0(?!\d)|0\.0{5}|(?<=-)0(?![.\d]))/;

export const mayHoldRawNumbers = (text: string): boolean => DELICATE.test(text);

/** As JSON.parse; throws what it throws. */
export function parseExact(text: string): unknown {
  return mayHoldRawNumbers(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

const keepDigits = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value;

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
