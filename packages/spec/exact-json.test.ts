import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approximated, compareNumbers, isMultipleOf, isRawNumber, numberProblem, parseExact } from './exact-json.ts';
import { numberText } from '@svc/testing/spec/number-text.ts';

const blank = fc.constantFrom('', ' ', '\n\t', '  \r\n');
const document = fc.letrec<{ value: string; member: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    numberText,
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('null', 'true', '":1.0,"'),
    fc
      .tuple(blank, fc.array(tie('value'), { maxLength: 4 }))
      .map(([gap, items]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
    fc
      .tuple(blank, fc.array(tie('member'), { maxLength: 4 }))
      .map(([gap, items]) => `{${gap}${items.join(`,${gap}`)}${gap}}`),
  ),
  member: fc.tuple(fc.string(), tie('value')).map(([key, value]) => `${JSON.stringify(key)}: ${value}`),
})).value;

/** Without the blanks between its parts, and of a name that occurs twice the last: what writing it again must give. */
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function numbersIn(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
      at += 1;
      continue;
    }
    NUMBER.lastIndex = at;
    const [number] = NUMBER.exec(text) ?? [];
    if (number !== undefined) found.push(number);
    at += number?.length ?? 1;
  }
  return found;
}

describe('JSON read and written again', () => {
  it('has every number as it was written, wherever it stands', () => {
    fc.assert(
      fc.property(fc.array(document, { maxLength: 5 }), (values) => {
        // Keys are made different: of two equal ones a reader keeps one.
        const text = `[${values.join(' , ')}]`;
        const again = JSON.stringify(parseExact(text));
        fc.pre(JSON.stringify(JSON.parse(text)).length > 0 && !hasEqualKeys(text));
        expect(numbersIn(again).toSorted()).toEqual(numbersIn(text).toSorted());
        expect(JSON.parse(again)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each(['9007199254740993', '-9007199254740993', '1.0', '-0.0', '-0', '1e5', '1E400', '0.10', '0.0000001', '1e-7'])(
    'keeps %s, alone and inside',
    (text) => {
      for (const around of [text, `[${text}]`, `{"a": ${text}}`, `[1,\n ${text} ]`]) {
        expect(numbersIn(JSON.stringify(parseExact(around)))).toContain(text);
      }
    },
  );

  it('has ordinary numbers where nothing is lost', () => {
    const value = parseExact(
      '[0, 1, -1, 1.5, 123456789012345, 0.000001, 1e+21, {"at": "2026-01-01T00:00:00.000000Z"}]',
    );
    expect(value).toEqual([0, 1, -1, 1.5, 123456789012345, 0.000001, 1e21, { at: '2026-01-01T00:00:00.000000Z' }]);
  });

  it('keeps digits under every key, also under one that means something to JavaScript', () => {
    const text = '{"__proto__":{"a":1.0},"b":{"__proto__":2.50}}';
    expect(JSON.stringify(parseExact(text))).toBe(text);
    expect(JSON.stringify(parseExact('{"a":null,"b":[null,1.0,{"c":1.0}]}'))).toBe(
      '{"a":null,"b":[null,1.0,{"c":1.0}]}',
    );
  });

  it('fails as JSON.parse does', () => {
    for (const text of ['', '{', '01', '1.', '[1.0', 'NaN', '1e', '-'])
      expect(() => parseExact(text)).toThrow(SyntaxError);
  });
});

/** JSON.parse keeps the last of equal keys, and keys that look like numbers come first. */
function hasEqualKeys(text: string): boolean {
  let members = 0;
  let kept = 0;
  JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) kept += Object.keys(value).length;
    return value;
  });
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
    } else if (text[at] === ':') members += 1;
  }
  return members !== kept;
}

describe('a number that no double can stand for', () => {
  it.each(['1e999', '-1e309', '1e-400', `1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`, `1.${'0'.repeat(2_000)}`])(
    'is found: %s',
    (text) => {
      const value = parseExact(text);
      expect(isRawNumber(value) && numberProblem(value)).toMatch(/write it as a string/);
    },
  );

  it.each(['1.7976931348623157e308', '5e-324', '0e999', '0.0', '-0.0', '12345678901234567890'])('is not %s', (text) => {
    const value = parseExact(text);
    expect(isRawNumber(value) ? numberProblem(value) : undefined).toBeUndefined();
  });
});

describe('exact comparison', () => {
  it('orders integers as integers, beyond all doubles', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
        expect(compareNumbers(String(a), String(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it('orders what doubles can tell apart as they do', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 });
    fc.assert(
      fc.property(double, double, (a, b) => {
        expect(compareNumbers(String(a), String(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it('knows that a number can be written in many ways', () => {
    for (const text of ['100', '100.0', '1e2', '1E+2', '0.1e3', '1000e-1', '100.000'])
      expect(compareNumbers(text, '100')).toBe(0);
    expect(compareNumbers('-0.0', '0')).toBe(0);
    expect(compareNumbers('9007199254740993', '9007199254740992')).toBe(1);
  });

  it('finds multiples where doubles would not', () => {
    expect(isMultipleOf('0.3', '0.1')).toBe(true);
    expect(isMultipleOf('9007199254740993', '2')).toBe(false);
    expect(isMultipleOf('9007199254740994', '2')).toBe(true);
  });
});

it('an approximation is the tree itself when there is nothing to approximate', () => {
  const tree = { a: [1, { b: 'x' }] };
  expect(approximated(tree)).toBe(tree);
  expect(approximated(parseExact('{"a": [1.0, 9007199254740993]}'))).toEqual({ a: [1, 9007199254740992] });
});
