/**
 * What workers were given of late, so that one who has it is sent only what differs. By tenant and version: a state that a
 * worker claims to hold is looked for among those of the very version that its attempt runs, so that neither a value nor a
 * name of another one is ever part of an answer.
 */
import { LRUCache } from 'lru-cache';
import type { Secrets } from '@svc/proto/agent-service.ts';
import type { AttemptIdentity } from './credentials.ts';

/** `id` is the same for the same content, in every process. */
export type SecretBundle = { id: string; env: Record<string, string>; masks: string[] };

type Version = Pick<AttemptIdentity, 'tenantId' | 'dagId' | 'versionNumber'>;

type RecentBundles = {
  add(version: Version, bundle: SecretBundle): void;
  changesFor(version: Version, bundle: SecretBundle, known: readonly string[]): Secrets;
};

/** Values are shared with the vault; of a state with ten thousand, its own index takes about a megabyte. */
const KEPT = 64;

const keyOf = ({ tenantId, versionNumber, dagId }: Version, id: string): string =>
  `${tenantId}/${versionNumber}/${dagId}/${id}`;

export function createRecentBundles(): RecentBundles {
  const kept = new LRUCache<string, SecretBundle>({ max: KEPT });

  return {
    add: (version, bundle) => void kept.set(keyOf(version, bundle.id), bundle),

    changesFor(version, bundle, known) {
      const { id } = bundle;
      if (known.includes(id)) return { id, base_id: id, changes_json: '' };
      // The newest comes last.
      const base = known.toReversed().flatMap((one) => kept.get(keyOf(version, one)) ?? [])[0];
      if (!base) return { id, base_id: '', changes_json: JSON.stringify(changesBetween(undefined, bundle)) };
      return { id, base_id: base.id, changes_json: JSON.stringify(changesBetween(base, bundle)) };
    },
  };
}

/** Pure. */
function changesBetween(base: SecretBundle | undefined, { env, masks }: SecretBundle): object {
  const before = base?.env ?? {};
  const [masked, masksNow] = [new Set(base?.masks), new Set(masks)];
  return {
    env: Object.fromEntries(Object.entries(env).filter(([name, value]) => before[name] !== value)),
    unset: Object.keys(before).filter((name) => !Object.hasOwn(env, name)),
    masks: masks.filter((mask) => !masked.has(mask)),
    unmask: [...masked].filter((mask) => !masksNow.has(mask)),
  };
}
