/**
 * JSON texts for property tests, with everything that a careless parser changes: large numbers, escapes, unusual keys,
 * spaces.
 */
import fc from 'fast-check';

const word = fc.constantFrom(
  'host',
  'region',
  'password',
  'api_key',
  'Token',
  'nested',
  '__proto__',
  'constructor',
  '10',
);
const key = fc.oneof(
  { weight: 3, arbitrary: word },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
);
const number = fc.oneof(
  fc.constantFrom('12345678901234567890', '1.0', '-0', '1e400', '0.10', '1E5', '3.14159265358979323846'),
  fc.integer().map(String),
);
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(String.raw`"\u0061\/b"`, String.raw`"\ud800"`, '""', '"***"', String.raw`"a\\"`, '"}]"'),
);
const scalar = fc.oneof(text, number, fc.constantFrom('true', 'false', 'null'));
const blank = fc.constantFrom('', '', ' ', '\n\t', '  ');

const { value, object } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalar, tie('object'), tie('array')),
  object: fc
    .tuple(fc.uniqueArray(fc.tuple(key, tie('value')), { maxLength: 5, selector: ([name]) => name }), blank)
    .map(
      ([entries, gap]) =>
        `{${gap}${entries.map(([name, inner]) => `${JSON.stringify(name)}${gap}:${inner}`).join(`${gap},`)}}`,
    ),
  array: fc
    .tuple(fc.array(tie('value'), { maxLength: 5 }), blank)
    .map(([items, gap]) => `[${items.join(`,${gap}`)}${gap}]`),
}));

/** Any JSON text in which no object has a key twice. */
export const jsonText: fc.Arbitrary<string> = value;
export const jsonObjectText: fc.Arbitrary<string> = object;
