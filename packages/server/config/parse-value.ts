// Parses what a source contains (text, a list of texts, pairs of texts) to the value of a key. It is pure and equal for
// every source: a file, a variable and a flag accept the same spellings.

import { parseAddress } from './address.ts';
import { formatDuration, parseDuration } from './duration.ts';
import type {
  ConfigValue,
  DurationDefinition,
  EnumDefinition,
  IntDefinition,
  KeyDefinition,
  ListDefinition,
} from './key-definition.ts';

export type RawValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'map'; readonly pairs: readonly (readonly [string, string])[] };

export type ParseOutcome =
  | { readonly ok: true; readonly value: ConfigValue; readonly warning?: string }
  | { readonly ok: false; readonly allowed: string };

/** Timers and Postgres settings overflow above this, so it limits every integer key. */
export const MAX_INT = 2_147_483_647;

const TRUE_WORDS = new Set(['true', '1', 'yes', 'on']);
const FALSE_WORDS = new Set(['false', '0', 'no', 'off']);

export function parseValue(definition: KeyDefinition, raw: RawValue): ParseOutcome {
  switch (definition.type) {
    case 'list':
      return raw.kind === 'list' ? parseList(definition, raw.items) : refuse(allowedFor(definition));
    case 'map':
      return raw.kind === 'map' ? parseMap(raw.pairs) : refuse(allowedFor(definition));
    default:
      return raw.kind === 'text' ? parseText(definition, raw.text) : refuse(allowedFor(definition));
  }
}

type ScalarDefinition = Exclude<KeyDefinition, { type: 'list' | 'map' }>;

function parseText(definition: ScalarDefinition, text: string): ParseOutcome {
  switch (definition.type) {
    case 'int':
      return parseInteger(definition, text.trim());
    case 'bool':
      return parseBoolean(text.trim().toLowerCase());
    case 'duration':
      return parseBoundedDuration(definition, text);
    case 'enum':
      return parseEnum(definition, text.trim());
    case 'address': {
      const trimmed = text.trim();
      const isFine = trimmed === '' ? definition.allowEmpty === true : parseAddress(trimmed) !== undefined;
      return isFine ? accept(trimmed) : refuse(allowedFor(definition));
    }
    case 'json':
      return text.trim() === '' || isJsonObject(text) ? accept(text) : refuse(allowedFor(definition));
    case 'secret':
      // A secret from a mounted file often ends with the line break of an editor.
      return accept(text.replace(/\r?\n$/, ''));
    case 'string': {
      const trimmed = text.trim();
      const isFine = trimmed === '' ? definition.default === '' : (definition.pattern?.test(trimmed) ?? true);
      return isFine ? accept(trimmed) : refuse(allowedFor(definition));
    }
  }
}

function parseInteger(definition: IntDefinition, text: string): ParseOutcome {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  const { min, max } = boundsOf(definition);
  // `+ 0` turns the -0 of "-0" into 0.
  return value >= min && value <= max ? accept(value + 0) : refuse(allowedFor(definition));
}

function boundsOf(definition: IntDefinition): { min: number; max: number } {
  return { min: definition.min ?? -MAX_INT, max: definition.max ?? MAX_INT };
}

function parseBoolean(word: string): ParseOutcome {
  if (TRUE_WORDS.has(word)) {
    return accept(true);
  }
  return FALSE_WORDS.has(word) ? accept(false) : refuse(BOOL_ALLOWED);
}

function parseBoundedDuration(definition: DurationDefinition, text: string): ParseOutcome {
  const value = parseDuration(text);
  const isInside =
    value !== undefined &&
    value >= (definition.min ?? Number.NEGATIVE_INFINITY) &&
    value <= (definition.max ?? Number.POSITIVE_INFINITY);
  return isInside ? accept(value) : refuse(allowedFor(definition));
}

function parseEnum(definition: EnumDefinition, text: string): ParseOutcome {
  if (text === '' && definition.emptyMeans !== undefined) {
    return accept(definition.emptyMeans);
  }
  const lower = text.toLowerCase();
  const alias = Object.hasOwn(definition.aliases ?? {}, lower) ? definition.aliases?.[lower] : undefined;
  // Letter case is ignored (INFO, Json), because no two values differ only in case.
  const value = alias ?? definition.values.find((candidate) => candidate.toLowerCase() === lower);
  if (value !== undefined) {
    return accept(value);
  }
  if (definition.fallback !== undefined) {
    const warning = `falls back to ${definition.fallback}; allowed: ${allowedFor(definition)}`;
    return { ok: true, value: definition.fallback, warning };
  }
  return refuse(allowedFor(definition));
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function parseList(definition: ListDefinition, items: readonly string[]): ParseOutcome {
  const trimmed = items.map((item) => item.trim()).filter((item) => item !== '');
  const areFine = trimmed.every((item) => definition.pattern?.test(item) ?? true);
  return areFine ? accept(Object.freeze(trimmed)) : refuse(allowedFor(definition));
}

function parseMap(pairs: readonly (readonly [string, string])[]): ParseOutcome {
  const isComplete = pairs.every(([name, value]) => name.trim() !== '' && value.trim() !== '');
  if (!isComplete) {
    return refuse('a map whose names and values are not empty');
  }
  const map: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of pairs) {
    map[name.trim()] = value.trim();
  }
  return accept(Object.freeze(map));
}

const BOOL_ALLOWED = 'true or false (also 1/0, yes/no, on/off)';
const DURATION_ALLOWED = 'a duration such as 24h, 1h30m, 90s or 500ms (a plain number is seconds)';

/** Completes the sentence "allowed: …" in messages and on the reference page. */
export function allowedFor(definition: KeyDefinition): string {
  switch (definition.type) {
    case 'int': {
      const { min, max } = boundsOf(definition);
      return `a whole number from ${min} to ${max}`;
    }
    case 'bool':
      return BOOL_ALLOWED;
    case 'duration':
      return [DURATION_ALLOWED, ...durationBounds(definition)].join(', ');
    case 'enum':
      return definition.values.map((value) => (value === '' ? 'empty' : value)).join(', ');
    case 'address':
      return `host:port, :port or [ipv6]:port with a port up to 65535${definition.allowEmpty === true ? ', or empty' : ''}`;
    case 'json':
      return 'a JSON object such as {"connections_prefix": "svc/connections"}';
    case 'secret':
      return 'any text';
    case 'list':
      return `a list of ${definition.allowed ?? 'texts'}`;
    case 'map':
      return 'a map of names to texts';
    case 'string':
      return definition.allowed ?? (definition.default === '' ? 'any text' : 'any text that is not empty');
  }
}

function durationBounds(definition: DurationDefinition): string[] {
  const { min, max } = definition;
  return [
    ...(min === undefined ? [] : [`at least ${formatDuration(min)}`]),
    ...(max === undefined ? [] : [`at most ${formatDuration(max)}`]),
  ];
}

function accept(value: ConfigValue): ParseOutcome {
  return { ok: true, value };
}

function refuse(allowed: string): ParseOutcome {
  return { ok: false, allowed };
}
