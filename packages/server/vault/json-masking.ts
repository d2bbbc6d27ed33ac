/** Masks JSON for callers with read access only: secret values, and values under sensitive names. */
import { maskValues, maskValuesInTurns } from '@svc/spec/masking/secret-set.ts';
import type { SecretSet } from '@svc/spec/masking/secret-set.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { readJson, scalarOf, valueOf, writeJson } from './json-text.ts';
import type { JsonEntry, JsonNode, JsonScalar } from './json-text.ts';
import { MASK } from './mask.ts';

export const MASKED = JSON.stringify(MASK);
/** Matches a JSON string that may contain JSON itself. */
export const MAY_HOLD_JSON = /^"\s*[[{]/;

export class JsonMasking {
  /** Undefined if the text contains no secret value, so that only names count. */
  readonly #secrets: SecretSet | undefined;
  /** Caches names, because rows repeat the same names. */
  readonly #names = new Map<string, { shown: string; isSensitive: boolean }>();

  constructor(secrets: SecretSet | undefined) {
    this.#secrets = secrets;
  }

  #hide(text: string): string {
    return this.#secrets ? maskValues(text, [this.#secrets]) : text;
  }

  /** Masks a large text that is not JSON. */
  async hideInTurns(text: string): Promise<string> {
    return this.#secrets ? maskValuesInTurns(text, [this.#secrets]) : text;
  }

  node(node: JsonNode): JsonNode {
    switch (node.kind) {
      case 'scalar':
        return this.#scalar(node);
      case 'array': {
        const items = node.items.map((item) => this.node(item));
        return items.every((item, index) => item === node.items[index]) ? node : { kind: 'array', items };
      }
      case 'object': {
        const entries = node.entries.map((entry) => this.#entry(entry));
        return entries.every((entry, index) => entry === node.entries[index]) ? node : { kind: 'object', entries };
      }
    }
  }

  /** Returns the key as it is shown, and whether its value is hidden. */
  name(key: string): { shown: string; isSensitive: boolean } {
    const known = this.#names.get(key);
    if (known) return known;
    const name = { shown: this.#hide(key), isSensitive: isSensitiveName(key) };
    this.#names.set(key, name);
    return name;
  }

  #entry(entry: JsonEntry): JsonEntry {
    const [key, value] = entry;
    const name = this.name(key);
    const shown = name.isSensitive && !isEmpty(value) ? scalarOf(MASK) : this.node(value);
    return shown === value && name.shown === key ? entry : [name.shown, shown];
  }

  #scalar(node: JsonScalar): JsonScalar {
    const isText = node.text.startsWith('"');
    const mayHoldJson = isText && MAY_HOLD_JSON.test(node.text);
    if (!this.#secrets && !mayHoldJson) return node;
    const value = isText ? (valueOf(node) as string) : node.text;
    const shown = mayHoldJson ? this.#inside(value) : this.#hide(value);
    return shown === value ? node : scalarOf(shown);
  }

  /** Masks JSON inside a text, because the names inside count as well. */
  #inside(text: string): string {
    const node = readJson(text);
    if (node === 'too-deep') return MASK;
    if (node === 'not-json') return this.#hide(text);
    const shown = this.node(node);
    return shown === node ? text : writeJson(shown);
  }
}

/** True for a value that reveals nothing. Readers should see that a field is empty. */
const isEmpty = (node: JsonNode): boolean => node.kind === 'scalar' && isEmptyText(node.text);
export const isEmptyText = (json: string): boolean => ['null', '""', 'true', 'false'].includes(json);
