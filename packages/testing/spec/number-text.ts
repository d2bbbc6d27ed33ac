/** Numbers as JSON writes them, in every form there is, as far as a double reaches. */
import fc from 'fast-check';

const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength });
const whole = fc.oneof(
  fc.constant('0'),
  fc.tuple(fc.constantFrom(...'123456789'), digits(40)).map(([first, rest]) => `${first}${rest}`),
);
const sign = fc.constantFrom('', '-');

/** Of any length: what Python calls int. */
export const integerText: fc.Arbitrary<string> = fc.tuple(sign, whole).map((parts) => parts.join(''));

const exponent = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 200 }))
  .map((parts) => parts.join(''));
const fraction = digits(30).map((text) => `.${text}0`);
const written = fc
  .tuple(integerText, fc.constantFrom('', '.0', '.5', '.50'), fc.oneof(fc.constant(''), exponent))
  .map((parts) => parts.join(''));

export const numberText: fc.Arbitrary<string> = fc.oneof(
  integerText,
  written,
  fc.tuple(integerText, fraction).map((parts) => parts.join('')),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '9007199254740993',
    '-9223372036854775808',
    '18446744073709551615',
    '1.0',
    '-0.0',
    '-0',
    '1e5',
    '1.50',
  ),
);
