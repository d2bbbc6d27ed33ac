/**
 * Secrets in what programs print, replaced by ***. Python masks what goes through it; this is for the rest: output of
 * programs that a task starts, and texts of the agent itself. The rules are those of every program (@svc/spec/masking).
 */
import { createHash } from 'node:crypto';
import { maskCredentials } from '@svc/spec/masking/credential-patterns.ts';
import { createSecretSet, maskValues } from '@svc/spec/masking/secret-set.ts';
import type { SecretSet } from '@svc/spec/masking/secret-set.ts';

export type Masks = {
  add(values: readonly string[]): void;
  /** Of this attempt alone, and a few at a time: what it has fetched itself. */
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
 * Attempts of a tenant are given the same secrets, up to thousands: they share the index of the last few lists, which is
 * made when a text is first looked at (25 µs and 2.5 kB for each secret).
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
    // Not by halves: of a line that is still coming, the first half would be masked and the rest not recognised any more.
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
