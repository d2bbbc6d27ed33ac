/** The keyring as the resources use it: sealing by column, and reading that survives a value no key opens any more. */
import { UnsealError } from './keyring.ts';
import type { Keyring, Binding } from './keyring.ts';

/** A stored value. `unreadable` was sealed with a key that is not configured, or is damaged; it can still be kept. */
export type Opened = { kind: 'none' } | { kind: 'text'; text: string } | { kind: 'unreadable' };

export type Vault = {
  readonly canSeal: boolean;
  seal(plain: string, binding: Binding): string;
  open(sealed: string | null, binding: Binding): Opened;
};

type Log = { warn(details: object, message: string): void };

/** Beyond this many broken values one more line tells nothing new, and remembering them all would cost memory. */
const MAX_REPORTED = 1_000;

export function createVault({ keyring, log }: { keyring: Keyring; log: Log }): Vault {
  const reported = new Set<string>();

  /** Once per value: lists are read over and over, by people who can do nothing about it. */
  const report = (error: UnsealError, binding: Binding): void => {
    const name = JSON.stringify(binding);
    if (reported.has(name) || reported.size >= MAX_REPORTED) return;
    reported.add(name);
    log.warn({ binding, reason: error.message }, 'a stored secret cannot be read and is shown as ***');
  };

  return {
    canSeal: keyring.canSeal,
    seal: keyring.seal,
    open(sealed, binding) {
      if (sealed === null) return { kind: 'none' };
      try {
        return { kind: 'text', text: keyring.unseal(sealed, binding) };
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        report(error, binding);
        return { kind: 'unreadable' };
      }
    },
  };
}

/** Where the secrets of a connection and of a variable live. Part of what is authenticated: never change these. */
export const connectionBinding = (tenantId: string, connectionId: string, column: 'password' | 'extra'): Binding => ({
  tenantId,
  table: 'connections',
  row: connectionId,
  column,
});

/** Arguments of a trigger belong to the attempt that made it. */
export const triggerBinding = (tenantId: string, attemptId: string, column: 'kwargs' | 'next_kwargs'): Binding => ({
  tenantId,
  table: 'triggers',
  row: attemptId,
  column,
});

export const variableBinding = (tenantId: string, key: string): Binding => ({
  tenantId,
  table: 'variables',
  row: key,
  column: 'value',
});
