import { isSensitiveFieldName } from '@svc/spec/sensitive-names.ts';
import { maskCredentials } from '@svc/spec/masking/credential-patterns.ts';
import { createSecretSet, maskValues } from '@svc/spec/masking/secret-set.ts';
import { maskDeep } from './mask-deep.ts';

export interface SecretRegistry {
  /** Makes a value unprintable for good: what the operator configured. */
  add(value: string): void;
  /**
   * Makes a value that passes through unprintable for as long as it can still turn up: what a request brings along.
   * Bounded, because requests are not.
   */
  addPassing(value: string): void;
  /** Masks known values in every encoding we know of, and whatever looks like a credential. */
  redact(text: string): string;
  /** The same for every string inside a value, and for whole values whose key has a sensitive name. Returns a copy. */
  redactDeep(value: unknown): unknown;
}

/**
 * Characters of passing secrets per generation; the last two generations are known. An index takes about nine bytes per
 * character, so they stay below 40 MB together, and hold what tens of thousands of writes brought along.
 */
const GENERATION_CHARACTERS = 2 * 1024 * 1024;

export function createSecretRegistry(): SecretRegistry {
  const configured = createSecretSet();
  let passing = createSecretSet();
  let passedBefore = createSecretSet();

  const redact = (text: string): string => {
    const sets = [configured, passing, passedBefore].filter((set) => set.size() > 0);
    return maskCredentials(sets.length === 0 ? text : maskValues(text, sets));
  };

  return {
    add: (value) => configured.add(value),
    addPassing(value) {
      passing.add(value);
      if (passing.characters() < GENERATION_CHARACTERS) return;
      passedBefore = passing;
      passing = createSecretSet();
    },
    redact,
    redactDeep: (value) => maskDeep({ value, text: redact, isSensitive: isSensitiveFieldName }),
  };
}
