/** The keyring as the resources use it: sealing by column, and reading that survives a value no key opens any more. */
import { UnsealError } from './keyring.ts';
import type { Keyring, SealedPlace } from './keyring.ts';

/** A stored value. `unreadable` was sealed with a key that is not configured, or is damaged; it can still be kept. */
export type Opened = { kind: 'none' } | { kind: 'text'; text: string } | { kind: 'unreadable' };

export type Vault = {
  readonly canSeal: boolean;
  seal(plain: string, place: SealedPlace): string;
  open(sealed: string | null, place: SealedPlace): Opened;
};

type Log = { warn(details: object, message: string): void };

/** Beyond this many broken values one more line tells nothing new, and remembering them all would cost memory. */
const MAX_REPORTED = 1_000;

export function createVault({ keyring, log }: { keyring: Keyring; log: Log }): Vault {
  const reported = new Set<string>();

  /** Once per value: lists are read over and over, by people who can do nothing about it. */
  const report = (error: UnsealError, place: SealedPlace): void => {
    const name = JSON.stringify(place);
    if (reported.has(name) || reported.size >= MAX_REPORTED) return;
    reported.add(name);
    log.warn({ place, reason: error.message }, 'a stored secret cannot be read and is shown as ***');
  };

  return {
    canSeal: keyring.canSeal,
    seal: keyring.seal,
    open(sealed, place) {
      if (sealed === null) return { kind: 'none' };
      try {
        return { kind: 'text', text: keyring.unseal(sealed, place) };
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        report(error, place);
        return { kind: 'unreadable' };
      }
    },
  };
}

/** Where the secrets of a connection and of a variable live. Part of what is authenticated: never change these. */
export const connectionPlace = (tenantId: string, connectionId: string, column: 'password' | 'extra'): SealedPlace => ({
  tenantId,
  table: 'connections',
  row: connectionId,
  column,
});

export const variablePlace = (tenantId: string, key: string): SealedPlace => ({
  tenantId,
  table: 'variables',
  row: key,
  column: 'value',
});
