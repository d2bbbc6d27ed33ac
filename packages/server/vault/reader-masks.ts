/**
 * What people who may only read see of values that authors and tasks wrote (the conf of a run, an XCom, the extra of an asset
 * event): everything but the secrets of the tenant's vault, wherever they stand in it, and what stands under a sensitive name.
 *
 * The secrets of a tenant are indexed once for each state of its vault, a slice at a time, so that no request waits long for
 * another's index. Measured with 10,000 secrets: see docs/secrets.md.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createSecretSet, maskValues } from '@svc/spec/masking/secret-set.ts';
import type { SecretSet } from '@svc/spec/masking/secret-set.ts';
import { SENSITIVE_PARTS, isSensitiveName } from '@svc/spec/sensitive-names.ts';
import type { Database } from '../db/database.ts';
import { readVaultStamp } from '../db/secrets/all-secrets.ts';
import { readJson, scalarOf, valueOf, writeJson } from './json-text.ts';
import type { JsonEntry, JsonNode, JsonScalar } from './json-text.ts';
import type { Keyring } from './keyring.ts';
import { MASK } from './mask.ts';
import { loadVault } from './tenant-vault.ts';

/** From JSON text to JSON text; `name` is what the value as a whole is called. The same text when there is nothing to hide. */
export type ReaderMask = (json: string, name?: string) => string;

export type ReaderMasks = { of(tenantId: string): Promise<ReaderMask> };

const KEPT_TENANTS = 20;
/** About 3 ms of work. */
const SLICE = 100;

export function createReaderMasks({ db, keyring }: { db: Database; keyring: Keyring }): ReaderMasks {
  const kept = new LRUCache<string, { stamp: string; mask: Promise<ReaderMask> }>({ max: KEPT_TENANTS });

  async function make(tenantId: string): Promise<ReaderMask> {
    const { secrets } = await loadVault({ db, keyring }, tenantId);
    const set = createSecretSet({ findsHalves: false });
    for (let at = 0; at < secrets.length; at += SLICE) {
      for (const { masks } of secrets.slice(at, at + SLICE)) for (const value of masks) set.add(value);
      set.find('');
      await nextTurn();
    }
    return readerMask(set);
  }

  return {
    async of(tenantId) {
      const stamp = await readVaultStamp(db.tenant(tenantId));
      const known = kept.get(tenantId);
      const entry = known?.stamp === stamp ? known : { stamp, mask: make(tenantId) };
      kept.set(tenantId, entry);
      if (entry !== known) entry.mask.catch(() => kept.delete(tenantId));
      return entry.mask;
    },
  };
}

const MAY_NAME = new RegExp(SENSITIVE_PARTS, 'i');
const MASKED = JSON.stringify(MASK);

/** Pure. */
export function readerMask(secrets: SecretSet): ReaderMask {
  const hide = (text: string): string => (secrets.size() === 0 ? text : maskValues(text, [secrets]));
  return (json, name = '') => {
    if (isSensitiveName(name)) return json === 'null' || json === '""' ? json : MASKED;
    const holdsValue = hide(json) !== json;
    // Most values hold neither, and are looked at once. A name may be written with escapes.
    if (!holdsValue && !MAY_NAME.test(json) && !json.includes('\\')) return json;
    const node = readJson(json);
    if (typeof node === 'string') return MASKED;
    const shown = new Masking(holdsValue ? hide : undefined).node(node);
    return shown === node ? json : writeJson(shown);
  };
}

class Masking {
  /** Undefined: there is no secret value in all of it, and only names count. */
  readonly #hide: ((text: string) => string) | undefined;
  /** Rows have the same names again and again. */
  readonly #names = new Map<string, { shown: string; isSensitive: boolean }>();

  constructor(hide: ((text: string) => string) | undefined) {
    this.#hide = hide;
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

  #entry(entry: JsonEntry): JsonEntry {
    const [key, value] = entry;
    let name = this.#names.get(key);
    if (name === undefined) {
      name = { shown: this.#hide?.(key) ?? key, isSensitive: isSensitiveName(key) };
      this.#names.set(key, name);
    }
    const shown = name.isSensitive && !isEmpty(value) ? scalarOf(MASK) : this.node(value);
    return shown === value && name.shown === key ? entry : [name.shown, shown];
  }

  #scalar(node: JsonScalar): JsonScalar {
    const isText = node.text.startsWith('"');
    const mayHoldJson = isText && /^"\s*[[{]/.test(node.text);
    if (!this.#hide && !mayHoldJson) return node;
    const value = isText ? (valueOf(node) as string) : node.text;
    const shown = mayHoldJson ? this.#inside(value) : (this.#hide?.(value) ?? value);
    return shown === value ? node : scalarOf(shown);
  }

  /** JSON that somebody put into a text: names inside count as well. */
  #inside(text: string): string {
    const node = readJson(text);
    if (node === 'too-deep') return MASK;
    if (node === 'not-json') return this.#hide?.(text) ?? text;
    const shown = this.node(node);
    return shown === node ? text : writeJson(shown);
  }
}

/** Nothing to hide, and "there is none" is worth knowing. */
const isEmpty = (node: JsonNode): boolean =>
  node.kind === 'scalar' && ['null', '""', 'true', 'false'].includes(node.text);
