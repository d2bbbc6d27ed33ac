/**
 * What the control plane has given of a tenant's variables and connections, kept by DAG version for the attempts that follow:
 * it is sent once, and then what changes. Each answer names the state it means, so a value that was changed or deleted is gone
 * with the next attempt that starts.
 */
import { LRUCache } from 'lru-cache';
import type { ReceivedSecrets } from '@svc/proto/agent-service.ts';

export type HeldSecrets = { id: string; env: ReadonlyMap<string, string>; masks: ReadonlySet<string> };

export type SecretChanges = { env: Record<string, string>; unset: string[]; masks: string[]; unmask: string[] };

/** What was said to be held when a call was made, for its answer to build on. */
type Offer = {
  /** For the call. */
  readonly known: string;
  /** The state that the answer means; undefined when it says nothing of secrets. */
  take(versionKey: string, given: ReceivedSecrets | null | undefined): HeldSecrets | undefined;
};

export type KeptSecrets = {
  /** For an attempt of that version; without one, for whichever comes next. */
  offer(versionKey?: string): Offer;
};

const VERSIONS_KEPT = 50;
/** Attempts that started before a change may still be told apart from those after it. */
const STATES_KEPT = 2;
/** Of those that could be named. */
const MAX_OFFERED = 20;
const NOTHING = '-';

export function createKeptSecrets(): KeptSecrets {
  const kept = new LRUCache<string, readonly HeldSecrets[]>({ max: VERSIONS_KEPT });
  return {
    offer(versionKey) {
      const held =
        versionKey === undefined
          ? [...kept.values()].reverse().flat().slice(-MAX_OFFERED)
          : (kept.get(versionKey) ?? []);
      const byId = new Map(held.map((state) => [state.id, state]));
      return {
        known: [...byId.keys()].join(' ') || NOTHING,
        take(key, given) {
          if (!given || given.id === '') return undefined;
          const state = byId.get(given.id) ?? changed(byId.get(given.base_id), given);
          const others = (kept.get(key) ?? []).filter(({ id }) => id !== state.id);
          kept.set(key, [...others, state].slice(-STATES_KEPT));
          return state;
        },
      };
    },
  };
}

function changed(base: HeldSecrets | undefined, given: ReceivedSecrets): HeldSecrets {
  if (given.base_id !== '' && !base) throw new Error('secrets were changed that this worker was never given');
  const { env, unset, masks, unmask } = JSON.parse(given.changes_json) as SecretChanges;
  const [nextEnv, nextMasks] = [new Map(base?.env), new Set(base?.masks)];
  for (const name of unset) nextEnv.delete(name);
  for (const [name, value] of Object.entries(env)) nextEnv.set(name, value);
  for (const mask of unmask) nextMasks.delete(mask);
  for (const mask of masks) nextMasks.add(mask);
  return { id: given.id, env: nextEnv, masks: nextMasks };
}

/** What a process that has `base` must be told to have `state`. */
export function changesTo(state: HeldSecrets, base: HeldSecrets | undefined): SecretChanges {
  const env: Record<string, string> = {};
  for (const [name, value] of state.env) if (base?.env.get(name) !== value) env[name] = value;
  return {
    env,
    unset: [...(base?.env.keys() ?? [])].filter((name) => !state.env.has(name)),
    masks: [...state.masks].filter((mask) => !base?.masks.has(mask)),
    unmask: [...(base?.masks ?? [])].filter((mask) => !state.masks.has(mask)),
  };
}
