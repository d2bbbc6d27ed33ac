/**
 * Delivers secrets to attempts: those that their DAG declares with the start, as environment variables, and others on
 * request.
 */
import { findConnection } from '../db/secrets/connections.ts';
import type { Database } from '../db/database.ts';
import { findVariable } from '../db/secrets/variables.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { AgentLog } from './collaborators.ts';
import type { AttemptIdentity } from './credentials.ts';
import { RpcError } from './rpc-errors.ts';
import { declares, judgeSecret } from './secret-scope.ts';
import type { SecretKind, SecretScoping } from './secret-scope.ts';
import { createTenantVaults, openConnection, openVariable } from '../vault/tenant-vault.ts';
import type { OpenSecret, TenantVault } from '../vault/tenant-vault.ts';
import type { AttemptVersion } from './versions.ts';

/** `masks`: texts that must not appear in a log. */
export type SecretBundle = { env: Record<string, string>; masks: string[] };

type Asking = { identity: AttemptIdentity; version: AttemptVersion };

export type SecretDelivery = {
  readonly scoping: SecretScoping;
  atStart(asking: Asking & { stamp: string }): Promise<SecretBundle>;
  /** Returns undefined when there is no secret of that name. Throws when the attempt may not read it. */
  one(asking: Asking, kind: SecretKind, name: string): Promise<OpenSecret | undefined>;
  /** Throws when the attempt may not write it. What it may not read it may not replace. */
  checkWrite(asking: Asking, name: string): void;
};

// One variable of a program can have 128 KiB and all of them about 2 MiB, and bash operators start programs. Larger
// secrets are requested on use.
const MAX_VALUE_BYTES = 32 * 1024;
const MAX_ENV_BYTES = 512 * 1024;

export function createSecretDelivery(input: {
  db: Database;
  keyring: Keyring;
  scoping: SecretScoping;
  log: AgentLog;
}): SecretDelivery {
  const { db, keyring, scoping, log } = input;
  const vaults = createTenantVaults({ db, keyring });
  const prepared = new WeakMap<TenantVault, WeakMap<AttemptVersion, SecretBundle>>();
  const warn = createOnce();

  function check({ identity, version }: Asking, kind: SecretKind, name: string): void {
    const verdict = judgeSecret(scoping, version.secrets, { kind, name });
    if (verdict === 'denied') {
      throw new RpcError(
        'denied',
        `DAG ${identity.dagId} does not declare the ${kind} ${name}, and auth.secret_scoping is enforce: name it in an argument, a template or the source of the DAG`,
      );
    }
    if (verdict !== 'allowed_with_warning') return;
    warn(`${identity.tenantId}/${identity.dagId}/${identity.versionNumber}/${kind}/${name}`, () =>
      log.warn(
        { code: 'SVC4002', tenant: identity.tenantId, dag: identity.dagId, task: identity.taskId, [kind]: name },
        'a task reads a secret its DAG does not declare: auth.secret_scoping=enforce would deny it',
      ),
    );
  }

  /**
   * Runs once per version and state of the vault. Its warnings are therefore logged that often, and not per attempt.
   */
  function prepare({ tenantId }: AttemptIdentity, version: AttemptVersion, vault: TenantVault): SecretBundle {
    if (vault.unreadable.length > 0) {
      warn(`${tenantId}/${vault.unreadable.join('/')}`, () =>
        log.warn(
          { code: 'SVC4003', tenant: tenantId, unreadable: vault.unreadable },
          'secrets that no configured key opens are not delivered',
        ),
      );
    }
    return bundle(vault.secrets, (secret) => declares(version.secrets, secret));
  }

  return {
    scoping,

    async atStart({ identity, version, stamp }) {
      const vault = await vaults.get(identity.tenantId, stamp);
      const known = prepared.get(vault)?.get(version);
      if (known) return known;
      const fresh = prepare(identity, version, vault);
      prepared.set(vault, (prepared.get(vault) ?? new WeakMap()).set(version, fresh));
      return fresh;
    },

    async one(asking, kind, name) {
      check(asking, kind, name);
      const { tenantId } = asking.identity;
      const scoped = db.tenant(tenantId);
      if (kind === 'variable') {
        const row = await findVariable(scoped, name);
        return row && openVariable(row, { keyring, tenantId });
      }
      const row = await findConnection(scoped, name);
      return row && openConnection(row, { keyring, tenantId });
    },

    checkWrite: (asking, name) => check(asking, 'variable', name),
  };
}

/**
 * Builds the variables, with Airflow's names. Pure. When names of two secrets in the vault differ only in case, neither
 * is delivered: one variable cannot contain both, and a task could get the wrong one.
 */
export function bundle(vault: readonly OpenSecret[], isWanted: (secret: OpenSecret) => boolean): SecretBundle {
  const env: Record<string, string> = {};
  const wanted = vault.filter(isWanted);
  const masks = new Set(wanted.flatMap((secret) => secret.masks));
  const names = new Set(wanted.map(variableOf));
  const uses = Map.groupBy(
    vault.map(variableOf).filter((name) => names.has(name)),
    (name) => name,
  );
  let bytes = 0;
  for (const secret of wanted) {
    const { text } = secret;
    const variable = variableOf(secret);
    const size = Buffer.byteLength(variable) + Buffer.byteLength(text);
    const isUsable = !/[=\0]/.test(variable) && !text.includes('\0') && uses.get(variable)?.length === 1;
    if (!isUsable || size > MAX_VALUE_BYTES || bytes + size > MAX_ENV_BYTES) continue;
    bytes += size;
    env[variable] = text;
  }
  return { env, masks: [...masks] };
}

const variableOf = ({ kind, name }: OpenSecret): string =>
  `AIRFLOW_${kind === 'connection' ? 'CONN' : 'VAR'}_${name.toUpperCase()}`;

/** Warns once per key: a warning per attempt would hide the first one. The memory for it is bounded. */
function createOnce(): (key: string, warn: () => void) => void {
  const warned = new Set<string>();
  return (key, warn) => {
    if (warned.has(key)) return;
    if (warned.size >= 10_000) warned.clear();
    warned.add(key);
    warn();
  };
}
