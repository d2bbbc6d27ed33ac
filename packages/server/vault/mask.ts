/** What a response may show of text that can contain secrets: everything except the values under sensitive names. */
import { readJson, scalarOf, valueOf, writeJson } from './json-text.ts';
import type { JsonNode } from './json-text.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';

/** Replaces a hidden value. If a client sends it back, it means "unchanged". */
export const MASK = '***';

const MASK_NODE = scalarOf(MASK);

/** Shorter numbers (a port, a timeout) would hide half of the log if they counted as secrets. */
const MIN_SECRET_DIGITS = 6;

/** Decoding is needed only for a text with an escape. */
export const isMask = (node: JsonNode): boolean =>
  node.kind === 'scalar' && (node.text === MASK_NODE.text || (node.text.includes('\\') && valueOf(node) === MASK));

/** True for a value that reveals nothing. Readers should see that a field is empty. */
const isEmpty = (node: JsonNode): boolean => node.kind === 'scalar' && ['null', '""'].includes(node.text);

/** Masks at any depth, also in arrays, and for values of any type. Returns the node itself if nothing is masked. */
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

/** Masks an `extra`. If it is not a JSON object, it may be a bare key, so nothing of it is shown. */
export function maskExtra(extra: string): string {
  const node = readJson(extra);
  return typeof node === 'string' || node.kind !== 'object' ? MASK : writeJson(maskJson(node));
}

/** Shows a variable unchanged, unless its own name or a name inside its JSON is sensitive. */
export function maskVariable(key: string, value: string): string {
  if (isSensitiveName(key)) return value === '' ? '' : MASK;
  if (!mayBeJsonContainer(value)) return value;
  const node = readJson(value);
  if (node === 'not-json') return value;
  // Input with this nesting is refused. This value came in another way and was never checked, so it is hidden.
  if (node === 'too-deep') return MASK;
  const shown = maskJson(node);
  return shown === node ? value : writeJson(shown);
}

/** Avoids parsing the many values that are plain words. */
export const mayBeJsonContainer = (text: string): boolean => /^\s*[[{]/.test(text);

/** Returns every value under a sensitive name, for the registry of values that no log line may contain. */
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
