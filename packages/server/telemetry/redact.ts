import { isSensitiveFieldName } from '@svc/spec/sensitive-names.ts';
import { maskCredentials } from '@svc/spec/masking/credential-patterns.ts';
import { createSecretSet, maskValues } from '@svc/spec/masking/secret-set.ts';
import { maskDeep } from './mask-deep.ts';

export interface SecretRegistry {
  /** Masks a value forever. Used for secrets of the configuration. */
  add(value: string): void;
  /**
   * Masks a value of a request while it can still appear in a line. The number of such values is limited, because
   * requests are not.
   */
  addPassing(value: string): void;
  /** Masks known values in every known encoding, and everything that looks like a credential. */
  redact(text: string): string;
  /** Masks every string inside a value, and whole values under sensitive names. Returns a copy. */
  redactDeep(value: unknown): unknown;
}

/**
 * Characters of request secrets per generation. The last two generations are known. An index takes about nine bytes per
 * character, so both stay below 40 MB and hold the secrets of tens of thousands of writes.
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
