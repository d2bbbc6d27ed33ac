/** The keyring as the API resources use it: sealing by column, and reading that tolerates a value that no key opens. */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { UnsealError } from './keyring.ts';
import type { Keyring, Binding } from './keyring.ts';

/** A stored value. `unreadable` means that its key is not configured, or that it is damaged. It can still be kept. */
export type Opened = { kind: 'none' } | { kind: 'text'; text: string } | { kind: 'unreadable' };

export type Vault = {
  readonly canSeal: boolean;
  seal(plain: string, binding: Binding): string;
  open(sealed: string | null, binding: Binding): Opened;
};

type Log = { warn(details: Coded, message: string): void };

/** Beyond this many broken values, another log line adds no information, and remembering them would cost memory. */
const MAX_REPORTED = 1_000;

export function createVault({ keyring, log }: { keyring: Keyring; log: Log }): Vault {
  const reported = new Set<string>();

  /** Logs each value once, because readers of lists would repeat the line and cannot act on it. */
  const report = (error: UnsealError, binding: Binding): void => {
    const name = JSON.stringify(binding);
    if (reported.has(name) || reported.size >= MAX_REPORTED) return;
    reported.add(name);
    log.warn({ code: 'SVC5013', binding, reason: error.message }, 'a stored secret cannot be read and is shown as ***');
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

/**
 * The bindings of connection and variable secrets. They are authenticated with the values, so they must never change.
 */
export const connectionBinding = (tenantId: string, connectionId: string, column: 'password' | 'extra'): Binding => ({
  tenantId,
  table: 'connections',
  row: connectionId,
  column,
});

/** The binding of a trigger's arguments, which belong to the attempt that made it. */
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
