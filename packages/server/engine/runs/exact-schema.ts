/**
 * JSON Schema over numbers that keep their digits (@svc/spec/exact-json.ts). The validator computes with doubles, so it
 * gets the nearest ones. The keywords that compare numbers look up the original text of both sides.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject } from 'ajv';
import type { DataValidateFunction, DataValidationCxt } from 'ajv/dist/types/index.js';
import { compareNumbers, isMultipleOf, isRawNumber, nearestNumber } from '@svc/spec/exact-json.ts';

/** The original texts of the numbers in an approximated object or list, by key. */
const written = new WeakMap<object, Map<string, string>>();

/** Returns a copy in which numbers are doubles, and remembers their original texts. */
function approximation(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const copy: unknown[] | Record<string, unknown> = Array.isArray(value) ? [] : {};
  for (const [key, item] of Object.entries(value)) {
    if (isRawNumber(item)) remember(copy, key, item.rawJSON);
    // Defined, not assigned: an author may use the key __proto__.
    const shown = isRawNumber(item) ? nearestNumber(item) : approximation(item);
    Object.defineProperty(copy, key, { value: shown, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

function remember(parent: object, key: string, text: string): void {
  const texts = written.get(parent) ?? new Map<string, string>();
  written.set(parent, texts.set(key, text));
}

const textAt = (parent: object, key: string | number, value: number): string =>
  written.get(parent)?.get(String(key)) ?? String(value);

const LIMITS = {
  minimum: { sign: '>=', holds: (order: number) => order >= 0 },
  maximum: { sign: '<=', holds: (order: number) => order <= 0 },
  exclusiveMinimum: { sign: '>', holds: (order: number) => order > 0 },
  exclusiveMaximum: { sign: '<', holds: (order: number) => order < 0 },
} as const;

/** The compiled form of a keyword. */
type Check = DataValidateFunction;
type Compile = (schema: unknown, parent: object) => Check;

function keyword(ajv: Ajv2020, name: string, type: 'number' | undefined, compile: Compile): void {
  ajv.removeKeyword(name);
  ajv.addKeyword({ keyword: name, ...(type && { type }), errors: 'full', compile });
}

const failing = (
  name: string,
  message: string,
  test: (data: unknown, at: DataValidationCxt) => boolean,
  params: Record<string, unknown> = {},
): Check => {
  const check: Check = (data, at) => {
    if (at !== undefined && test(data, at)) return true;
    check.errors = [{ keyword: name, message, params }];
    return false;
  };
  return check;
};

/** Replaces the keywords that compare numbers. */
export function compareExactly(ajv: Ajv2020): Ajv2020 {
  for (const [name, { sign, holds }] of Object.entries(LIMITS)) {
    keyword(ajv, name, 'number', (limit, parent) => {
      const text = textAt(parent, name, limit as number);
      return failing(name, `must be ${sign} ${text}`, (data, at) =>
        holds(compareNumbers(textAt(at.parentData, at.parentDataProperty, data as number), text)),
      );
    });
  }
  keyword(ajv, 'multipleOf', 'number', (divisor, parent) => {
    const text = textAt(parent, 'multipleOf', divisor as number);
    return failing('multipleOf', `must be multiple of ${text}`, (data, at) =>
      isMultipleOf(textAt(at.parentData, at.parentDataProperty, data as number), text),
    );
  });
  keyword(ajv, 'const', undefined, (wanted, parent) =>
    failing(
      'const',
      'must be equal to constant',
      (data, at) => isSame(data, at, wanted, textOf(wanted, parent, 'const')),
      { allowedValue: wanted },
    ),
  );
  keyword(ajv, 'enum', undefined, (words) => {
    const allowed = words as unknown[];
    return failing(
      'enum',
      'must be equal to one of the allowed values',
      (data, at) => allowed.some((word, index) => isSame(data, at, word, textOf(word, allowed, index))),
      { allowedValues: allowed },
    );
  });
  return ajv;
}

const textOf = (value: unknown, parent: object, key: string | number): string | undefined =>
  typeof value === 'number' ? textAt(parent, key, value) : undefined;

function isSame(data: unknown, at: DataValidationCxt, wanted: unknown, text: string | undefined): boolean {
  if (typeof data !== 'number' || text === undefined) return isDeepStrictEqual(data, wanted);
  return compareNumbers(textAt(at.parentData, at.parentDataProperty, data), text) === 0;
}

/** Returns the problems of a value; empty when it is valid. */
export type SchemaCheck = (value: unknown) => readonly ErrorObject[];

/** Throws the library's error for a schema that it cannot read. */
export function compileExactly(ajv: Ajv2020, schema: object): SchemaCheck {
  const check = ajv.compile(approximation(schema) as object);
  return (value) => {
    const parentData = approximation({ value }) as { value: unknown };
    const at = { instancePath: '', parentData, parentDataProperty: 'value', rootData: parentData, dynamicAnchors: {} };
    return check(parentData.value, at) ? [] : (check.errors ?? []);
  };
}
