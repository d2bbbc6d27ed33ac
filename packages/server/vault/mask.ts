/** What a response may show of text that can hold secrets: everything but the values under a sensitive name. */
import { readJson, scalarOf, valueOf, writeJson } from './json-text.ts';
import type { JsonNode } from './json-text.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';

/** Stands for a value that is not shown. Sent back, it means "unchanged". */
export const MASK = '***';

const MASK_NODE = scalarOf(MASK);

/** Numbers this short (a port, a timeout) would blank out half the log if they counted as secrets. */
const MIN_SECRET_DIGITS = 6;

/** Only text with an escape in it needs decoding to tell. */
export const isMask = (node: JsonNode): boolean =>
  node.kind === 'scalar' && (node.text === MASK_NODE.text || (node.text.includes('\\') && valueOf(node) === MASK));

/** Nothing to hide, and "there is none" is worth knowing. */
const isEmpty = (node: JsonNode): boolean => node.kind === 'scalar' && ['null', '""'].includes(node.text);

/** At any depth, in arrays too, and whatever the type of the value. Returns the node itself when nothing had to be masked. */
export function maskJson(node: JsonNode): JsonNode {
  switch (node.kind) {
    case 'scalar':
      return node;
    case 'array': {
      const items = node.items.map(maskJson);
      return items.every((item, index) => item === node.items[index]) ? node : { kind: 'array', items };
    }
    case 'object': {
      const entries = node.entries.map((entry) => {
        const [key, value] = entry;
        const shown = isSensitiveName(key) && !isEmpty(value) ? MASK_NODE : maskJson(value);
        return shown === value ? entry : ([key, shown] as const);
      });
      return entries.every((entry, index) => entry === node.entries[index]) ? node : { kind: 'object', entries };
    }
  }
}

/** An `extra` that is no JSON object could be anything, a bare key for instance: nothing of it is shown. */
export function maskExtra(extra: string): string {
  const node = readJson(extra);
  return typeof node === 'string' || node.kind !== 'object' ? MASK : writeJson(maskJson(node));
}

/** A variable is shown byte for byte unless its own name, or one inside its JSON, is sensitive. */
export function maskVariable(key: string, value: string): string {
  if (isSensitiveName(key)) return value === '' ? '' : MASK;
  if (!mayBeJsonContainer(value)) return value;
  const node = readJson(value);
  if (node === 'not-json') return value;
  if (node === 'too-deep') return MASK; // refused on the way in; if it is here all the same, it was not looked into
  const shown = maskJson(node);
  return shown === node ? value : writeJson(shown);
}

/** Spares the parser for the many values that are plain words. */
export const mayBeJsonContainer = (text: string): boolean => /^\s*[[{]/.test(text);

/** Every value under a sensitive name, for the registry of what no log line may carry. */
export function secretsIn(node: JsonNode): string[] {
  switch (node.kind) {
    case 'scalar':
      return [];
    case 'array':
      return node.items.flatMap(secretsIn);
    case 'object':
      return node.entries.flatMap(([key, value]) => (isSensitiveName(key) ? scalarsIn(value) : secretsIn(value)));
  }
}

function scalarsIn(node: JsonNode): string[] {
  switch (node.kind) {
    case 'scalar': {
      const value = valueOf(node);
      if (typeof value === 'string') return value === '' || value === MASK ? [] : [value];
      return typeof value === 'number' && node.text.length >= MIN_SECRET_DIGITS ? [node.text] : [];
    }
    case 'array':
      return node.items.flatMap(scalarsIn);
    case 'object':
      return node.entries.flatMap(([, value]) => scalarsIn(value));
  }
}
