/**
 * Answers what DAG files read while they are compiled, and finds out what has changed since.
 *
 *   a file asks ──▶ scope ──▶ the value, opened, and its fingerprint
 *   the stamp of the vault differs ──▶ fingerprints of what was read, compared ──▶ the files that read it are compiled again
 *
 * A fingerprint is an HMAC over the tenant, the name and the value, with a key of the installation. The key is needed to
 * guess a value from its fingerprint. Equal values of two names have different fingerprints.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import type { AnswerValue, AnsweredValue, ValueKind, ValueRead } from '@svc/spec/values-read.ts';
import type { TenantDb } from '../db/database.ts';
import { findConnections } from '../db/secrets/connections.ts';
import { readVaultStamp } from '../db/secrets/all-secrets.ts';
import { findVariables } from '../db/secrets/variables.ts';
import { UnsealError } from './keyring.ts';
import type { Keyring } from './keyring.ts';
import { openConnection, openVariable } from './tenant-vault.ts';
import type { OpenSecret } from './tenant-vault.ts';

export type CompileValues = {
  readonly answer: AnswerValue;
  /** Changes with each change of a variable or connection of the tenant. */
  stamp(): Promise<string>;
  /** Returns `keyOf(read)` for each of `reads` whose value has changed. */
  changed(reads: readonly ValueRead[]): Promise<ReadonlySet<string>>;
};

type Name = { kind: ValueKind; name: string };

export const keyOf = ({ kind, name }: Name): string => `${kind} ${name}`;

export type FingerprintValue = (value: Name & { tenantId: string; text: string | null }) => string;

const FINGERPRINT_BYTES = 16;

export function createFingerprints(installationSecret: string): FingerprintValue {
  const key = Buffer.from(hkdfSync('sha256', installationSecret, '', 'svc values read by DAG files', 32));
  return ({ tenantId, kind, name, text }) =>
    createHmac('sha256', key)
      .update(JSON.stringify([tenantId, kind, name, text]))
      .digest()
      .subarray(0, FINGERPRINT_BYTES)
      .toString('base64url');
}

export function createCompileValues(input: {
  db: TenantDb;
  tenantId: string;
  keyring: Keyring;
  fingerprint: FingerprintValue;
  /** `auth.secret_scoping` is `enforce`. */
  isEnforced: boolean;
  /** `secrets.backend`, which only tasks ask; empty if there is none. */
  backend: string;
}): CompileValues {
  const { db, tenantId, keyring, fingerprint, isEnforced, backend } = input;

  /** Undefined: no configured key opens it. */
  async function open(names: readonly Name[]): Promise<Map<string, OpenSecret | undefined>> {
    const of = (wanted: ValueKind) => names.filter(({ kind }) => kind === wanted).map(({ name }) => name);
    const [variables, connections] = await Promise.all([
      findVariables(db, of('variable')),
      findConnections(db, of('connection')),
    ]);
    return new Map([
      ...variables.map(
        (row) => [`variable ${row.key}`, readable(() => openVariable(row, { keyring, tenantId }))] as const,
      ),
      ...connections.map(
        (row) =>
          [`connection ${row.connection_id}`, readable(() => openConnection(row, { keyring, tenantId }))] as const,
      ),
    ]);
  }

  return {
    async answer({ kind, name, isDeclared }): Promise<AnsweredValue> {
      if (isEnforced && !isDeclared) {
        return {
          refusal: `the ${kind} ${name} is not declared, and auth.secret_scoping is enforce`,
          instead: `Write the name out in the file, as in ${kind === 'variable' ? 'Variable.get' : 'BaseHook.get_connection'}("${name}")`,
        };
      }
      const found = await open([{ kind, name }]);
      const key = keyOf({ kind, name });
      const secret = found.get(key);
      if (!secret && found.has(key)) {
        const instead = 'List the key that sealed it in secret_key_previous';
        return { refusal: `the ${kind} ${name} cannot be read: no configured key opens it`, instead };
      }
      const text = secret?.text ?? null;
      const note =
        text === null && backend !== ''
          ? `the ${kind} ${name} is not in the vault of svc, and ${backend} is not asked while a file is loaded`
          : undefined;
      return { text, fingerprint: fingerprint({ tenantId, kind, name, text }), masks: secret?.masks ?? [], note };
    },

    stamp: () => readVaultStamp(db),

    async changed(reads) {
      const names = new Map(reads.map((read) => [keyOf(read), read]));
      const found = await open([...names.values()]);
      const now = (read: ValueRead): string | undefined => {
        const key = keyOf(read);
        if (found.has(key) && !found.get(key)) return undefined; // unreadable: a compile could not read it either
        return fingerprint({ tenantId, kind: read.kind, name: read.name, text: found.get(key)?.text ?? null });
      };
      return new Set(
        reads.filter((read) => (now(read) ?? read.fingerprint) !== read.fingerprint).map((read) => keyOf(read)),
      );
    },
  };
}

function readable(open: () => OpenSecret): OpenSecret | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}
