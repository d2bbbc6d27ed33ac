/**
 * Masks what authors and tasks wrote (the conf of a run, an XCom, the extra of an asset event), for callers with read
 * access only. It hides the secrets of the tenant's vault anywhere in the text, and values under sensitive names.
 *
 * The secrets of a tenant are indexed once for each state of its vault. The index is built in slices, so that no
 * request waits long for the index of another one. docs/secrets.md has the costs.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { PIECE } from '@svc/spec/json-in-turns.ts';
import { createSecretSet, maskValuesInTurns } from '@svc/spec/masking/secret-set.ts';
import type { SecretSet } from '@svc/spec/masking/secret-set.ts';
import { SENSITIVE_PARTS, isSensitiveName } from '@svc/spec/sensitive-names.ts';
import type { Database } from '../db/database.ts';
import { readVaultStamp } from '../db/secrets/all-secrets.ts';
import { JsonMasking, MASKED } from './json-masking.ts';
import { readJson, writeJson } from './json-text.ts';
import type { Keyring } from './keyring.ts';
import { maskLargeJson } from './large-json-masking.ts';
import { loadVault } from './tenant-vault.ts';

/**
 * Masks a JSON text; `name` is the name of the whole value. It returns the same text if there is nothing to hide. A
 * large text is processed in turns with other work.
 */
export type ReaderMask = (json: string, name?: string) => Promise<string>;

export type ReaderMasks = { of(tenantId: string): Promise<ReaderMask> };

const KEPT_TENANTS = 20;
/** Number of secrets that are indexed in one turn. */
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

export function readerMask(secrets: SecretSet): ReaderMask {
  return async (json, name = '') => {
    if (isSensitiveName(name)) return json === 'null' || json === '""' ? json : MASKED;
    const isLarge = json.length > PIECE;
    const holdsValue = secrets.size() > 0 && (await maskValuesInTurns(json, [secrets])) !== json;
    // Most values contain neither secrets nor sensitive names and end here. A name may contain escapes.
    if (!holdsValue && !MAY_NAME.test(json) && !json.includes('\\')) return json;
    const masking = new JsonMasking(holdsValue ? secrets : undefined);
    if (isLarge) return maskLargeJson(json, masking);
    const node = readJson(json);
    if (typeof node === 'string') return MASKED;
    const shown = masking.node(node);
    return shown === node ? json : writeJson(shown);
  };
}
