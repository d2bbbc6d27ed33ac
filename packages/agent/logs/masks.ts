/**
 * Masks secrets in the output of programs with ***. Python masks what passes through it. This masks the rest: output of
 * programs that a task starts, and texts of the agent itself. All programs use the same rules (@svc/spec/masking).
 */
import { createHash } from 'node:crypto';
import { maskCredentials } from '@svc/spec/masking/credential-patterns.ts';
import { createSecretSet, maskValues } from '@svc/spec/masking/secret-set.ts';
import type { SecretSet } from '@svc/spec/masking/secret-set.ts';

export type Masks = {
  add(values: readonly string[]): void;
  /** Adds secrets of this attempt only, a few at a time: those that it has fetched itself. */
  addOwn(values: readonly string[]): void;
  apply(text: string): string;
};

export function createMasks(): Masks {
  const sets = new Set<SecretSet>();
  let own: SecretSet | undefined;
  return {
    add(values) {
      if (values.length > 0) sets.add(setOf(values));
    },
    addOwn(values) {
      own ??= createSecretSet({ findsHalves: false });
      for (const value of values) own.add(value);
      sets.add(own);
    },
    apply: (text) => maskCredentials(sets.size === 0 ? text : maskValues(text, [...sets])),
  };
}

/**
 * Attempts of a tenant get the same secrets, up to thousands. They share the indexes of the last few lists, because an
 * index takes time and memory. It is built when a text is first checked.
 */
const KEPT = 8;
const kept = new Map<string, SecretSet>();

function setOf(values: readonly string[]): SecretSet {
  const hash = createHash('sha256');
  for (const value of values) hash.update(`${value.length}:${value}`);
  return keptSet(hash.digest('base64'), values);
}

function keptSet(key: string, values: Iterable<string>): SecretSet {
  let set = kept.get(key);
  if (set === undefined) {
    // Does not match halves of secrets: in a line that is still incomplete, the first half would be masked and the rest
    // not recognised.
    set = createSecretSet({ findsHalves: false });
    for (const value of values) set.add(value);
  }
  kept.delete(key);
  kept.set(key, set);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT) break;
    kept.delete(oldest);
  }
  return set;
}
