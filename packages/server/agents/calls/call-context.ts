/** What a method for running tasks receives, and how it reads its parameters. */
import { approximated, isRawNumber, parseExact } from '@svc/spec/exact-json.ts';
import { UNSTORABLE_TEXT, isStorableText, storeProblem } from '@svc/spec/storable.ts';
import { memberTexts } from '@svc/spec/json-spans.ts';
import type { AttemptIdentity } from '../credentials.ts';
import { RpcError } from '../rpc-errors.ts';
import type { AttemptVersion } from '../versions.ts';

export type CallContext = {
  identity: AttemptIdentity;
  /** The run's id as users know it. */
  runId: string;
  version: AttemptVersion;
  params: Params;
  /** Unique within the attempt. A repeated call has the same one. */
  requestId: string;
};

/** `json` is the value in JSON; `masks` are secrets in it. */
export type CallResult = { json: string; masks?: readonly string[] };

export type CallMethod = (context: CallContext) => Promise<CallResult>;

/** A parameter that is null counts as absent, because Python sends both. */
export type Params = {
  text(name: string): string;
  optionalText(name: string): string | undefined;
  optionalInteger(name: string): number | undefined;
  optionalTexts(name: string): string[] | undefined;
  optionalObject(name: string): Record<string, unknown> | undefined;
  optionalList(name: string): unknown[] | undefined;
  flag(name: string): boolean;
  isNull(name: string): boolean;
  has(name: string): boolean;
  /** The JSON text as it was written. */
  jsonText(name: string): string;
};

const wrong = (name: string, expected: string): RpcError => new RpcError('invalid', `${name} must be ${expected}`);

export function readParams(json: string): Params {
  const values = parse(json);
  const get = (name: string): unknown => (Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined);

  function optionalText(name: string): string | undefined {
    const value = get(name);
    if (value === undefined || typeof value === 'string') return storable(name, value);
    throw wrong(name, 'a text');
  }

  return {
    optionalText,
    text(name) {
      const value = optionalText(name);
      if (value === undefined) throw wrong(name, 'a text');
      return value;
    },
    optionalInteger(name) {
      const value = approximated(get(name)); // Python may send 5.0
      if (value === undefined) return undefined;
      if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value;
      throw wrong(name, 'an integer');
    },
    optionalTexts(name) {
      const value = get(name);
      if (value === undefined) return undefined;
      if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
        throw wrong(name, 'a list of texts');
      return value.map((item: string) => storable(name, item) ?? '');
    },
    optionalObject(name) {
      const value = get(name);
      if (value === undefined) return undefined;
      if (!isObject(value)) throw wrong(name, 'an object');
      const problem = storeProblem(value, { name });
      if (problem !== undefined) throw new RpcError('invalid', problem);
      return value;
    },
    optionalList(name) {
      const value = get(name);
      if (value === undefined || Array.isArray(value)) return value;
      throw wrong(name, 'a list');
    },
    flag: (name) => get(name) === true,
    has: (name) => Object.hasOwn(values, name),
    isNull: (name) => Object.hasOwn(values, name) && values[name] === null,
    jsonText(name) {
      const text = memberTexts(json).get(name);
      if (text === undefined) throw wrong(name, 'given');
      return text;
    },
  };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

function parse(json: string): Record<string, unknown> {
  try {
    const value = parseExact(json === '' ? '{}' : json);
    if (isObject(value)) return value;
  } catch {
    // refused below
  }
  throw new RpcError('invalid', 'the parameters are no JSON object (NaN and Infinity are no JSON: pass them as text)');
}

function storable<T extends string | undefined>(name: string, text: T): T {
  if (text !== undefined && !isStorableText(text)) throw new RpcError('invalid', `${name} ${UNSTORABLE_TEXT}`);
  return text;
}
