/** JSON for who may only read it: without the values of secrets, and without what stands under a sensitive name. */
import { maskValues, maskValuesInTurns } from '@svc/spec/masking/secret-set.ts';
import type { SecretSet } from '@svc/spec/masking/secret-set.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { readJson, scalarOf, valueOf, writeJson } from './json-text.ts';
import type { JsonEntry, JsonNode, JsonScalar } from './json-text.ts';
import { MASK } from './mask.ts';

export const MASKED = JSON.stringify(MASK);
/** A string, as JSON, that may be JSON itself. */
export const MAY_HOLD_JSON = /^"\s*[[{]/;

export class JsonMasking {
  /** Undefined: there is no secret value in all of it, and only names count. */
  readonly #secrets: SecretSet | undefined;
  /** Rows have the same names again and again. */
  readonly #names = new Map<string, { shown: string; isSensitive: boolean }>();

  constructor(secrets: SecretSet | undefined) {
    this.#secrets = secrets;
  }

  #hide(text: string): string {
    return this.#secrets ? maskValues(text, [this.#secrets]) : text;
  }

  /** A text that is large, and no JSON. */
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

  /** How a key is shown, and whether what stands under it is. */
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

  /** JSON that somebody put into a text: names inside count as well. */
  #inside(text: string): string {
    const node = readJson(text);
    if (node === 'too-deep') return MASK;
    if (node === 'not-json') return this.#hide(text);
    const shown = this.node(node);
    return shown === node ? text : writeJson(shown);
  }
}

/** Nothing to hide, and "there is none" is worth knowing. */
const isEmpty = (node: JsonNode): boolean => node.kind === 'scalar' && isEmptyText(node.text);
export const isEmptyText = (json: string): boolean => ['null', '""', 'true', 'false'].includes(json);
