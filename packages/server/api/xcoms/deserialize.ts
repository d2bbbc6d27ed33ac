/**
 * Values in the form that people read. A value that JSON cannot express is stored as an object with `__classname__`,
 * `__version__` and `__data__`. It is shown as what it represents, as far as JSON can express it: a tuple as a list, a
 * time as ISO 8601. Nothing is imported or evaluated. An unknown class is shown by its name.
 */
import { readJson, scalarOf, valueOf, writeJson } from '../../vault/json-text.ts';
import type { JsonNode, JsonObject } from '../../vault/json-text.ts';

/** Converts JSON text to JSON text. Numbers keep their digits, and a text with too deep nesting stays unchanged. */
export function deserialize(json: string): string {
  if (!json.includes('__classname__')) return json;
  const node = readJson(json);
  return typeof node === 'string' ? json : writeJson(plain(node));
}

/** Returns a string as itself, null as null, and any other value as its JSON. */
export function asText(json: string): string | null {
  const text = json.trim();
  if (text === 'null') return null;
  return text.startsWith('"') ? (JSON.parse(text) as string) : json;
}

function plain(node: JsonNode): JsonNode {
  switch (node.kind) {
    case 'scalar':
      return node;
    case 'array':
      return { kind: 'array', items: node.items.map(plain) };
    case 'object': {
      const name = textIn(node, '__classname__');
      if (name !== undefined) return standsFor(name, node);
      return { kind: 'object', entries: node.entries.map(([key, value]) => [key, plain(value)]) };
    }
  }
}

export const SEQUENCES = new Set(['builtins.tuple', 'builtins.set', 'builtins.frozenset']);
/** The data of these classes is already readable. */
const SCALARS = new Set(['datetime.date', 'datetime.time', 'uuid.UUID', 'decimal.Decimal']);
const PATH = /^pathlib\.\w+$/;
const FRAMES = /^(?:numpy|pandas|polars|pyarrow)\./;
const NUMPY_SCALAR = /^numpy\.\w+$/;
const MOMENTS = new Set(['datetime.datetime', 'pendulum.datetime.DateTime']);

function standsFor(name: string, node: JsonObject): JsonNode {
  const data = part(node, '__data__');
  if (data === undefined) return scalarOf(name);
  if (SEQUENCES.has(name) && data.kind === 'array') return plain(data);
  if (SCALARS.has(name) && data.kind === 'scalar') return data;
  if ((PATH.test(name) || NUMPY_SCALAR.test(name)) && data.kind === 'scalar') return data;
  // Frames and arrays are bytes in a format of their own, next to a description for people.
  const about = FRAMES.test(name) && data.kind === 'object' ? textIn(data, 'about') : undefined;
  if (about !== undefined) return scalarOf(`${name}: ${about}`);
  if (name === 'builtins.int' && data.kind === 'scalar') return integer(data.text) ?? data;
  const moment = MOMENTS.has(name) && data.kind === 'object' ? momentOf(data) : undefined;
  if (moment !== undefined) return scalarOf(moment);
  const version = part(node, '__version__');
  return scalarOf(`${name}@version=${version ? writeJson(version) : '?'}(${writeJson(plain(data))})`);
}

const part = (node: JsonObject, name: string): JsonNode | undefined =>
  node.entries.findLast(([key]) => key === name)?.[1];

function textIn(node: JsonObject, name: string): string | undefined {
  const found = part(node, name);
  const value = found?.kind === 'scalar' ? valueOf(found) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Integers that JavaScript cannot represent are stored as text. */
function integer(text: string): JsonNode | undefined {
  const digits = /^"(-?\d+)"$/.exec(text)?.[1];
  return digits === undefined ? undefined : { kind: 'scalar', text: digits };
}

/** Formats with microseconds in UTC, or without a zone if the value had none. */
function momentOf(data: JsonObject): string | undefined {
  const stamp = part(data, 'timestamp');
  const seconds = stamp?.kind === 'scalar' ? valueOf(stamp) : undefined;
  if (typeof seconds !== 'number') return undefined;
  const micros = Math.round(seconds * 1e6);
  const date = new Date(Math.floor(micros / 1_000));
  if (Number.isNaN(date.getTime())) return undefined;
  const lastDigits = String(((micros % 1_000) + 1_000) % 1_000).padStart(3, '0');
  const zone = part(data, 'tz');
  const isNaive = zone?.kind === 'scalar' && zone.text === 'null';
  return `${date.toISOString().slice(0, -1)}${lastDigits}${isNaive ? '' : 'Z'}`;
}
