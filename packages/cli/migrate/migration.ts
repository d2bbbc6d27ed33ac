/** What the migration of every kind uses. */
import { recordAudit } from '@svc/server/db/identity/audit-log.ts';
import type { Actor } from '@svc/server/db/identity/audit-log.ts';
import type { Database, TenantDb } from '@svc/server/db/database.ts';
import type { AirflowSource, SourceRun, SourceSecret } from '@svc/server/db/imports/airflow/source-types.ts';
import type { Vault } from '@svc/server/vault/vault.ts';
import type { Fernet } from './fernet.ts';
import type { Kind, Outcome, Report } from './report.ts';

export type Migration = {
  source: AirflowSource;
  db: Database;
  tenant: { id: string; name: string };
  vault: Vault;
  fernet: Fernet;
  actor: Actor;
  report: Report;
  isApplied: boolean;
  overwrites: boolean;
  /** True if the DAG is selected for the migration. */
  wantsDag(dagId: string): boolean;
  /** The selection as text. A migration with another selection does not continue an interrupted one. */
  scope: string;
  since: string | undefined;
  /** Replaces pickled conf of runs by JSON text where it is plain data. */
  readPickles(runs: readonly SourceRun[]): Promise<SourceRun[]>;
  say(text: string): void;
  /** True if the user wants to stop. It is checked between two transactions. */
  isStopped(): boolean;
};

class Undone extends Error {}

/** Runs work in a transaction. A dry run does everything and rolls it back, so its report is accurate. */
export async function inTransaction(
  { db, tenant, isApplied }: Migration,
  work: (trx: TenantDb) => Promise<void>,
): Promise<void> {
  try {
    await db
      .tenant(tenant.id)
      .transaction()
      .execute(async (trx) => {
        await work(trx);
        if (!isApplied) throw new Undone();
      });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
}

const NAMES_IN_AUDIT = 100;

/** Writes one audit entry per transaction. */
export async function recordImport(
  { actor, source }: Migration,
  trx: TenantDb,
  { kind, done }: { kind: Kind; done: readonly { name: string; outcome: Outcome }[] },
): Promise<void> {
  const named = (outcome: Outcome): string[] =>
    done.flatMap((entry) => (entry.outcome === outcome ? [entry.name] : []));
  const [created, changed] = [named('create'), named('change')];
  if (created.length + changed.length === 0) return;
  await recordAudit(trx, actor, {
    event: 'migrate_from_airflow',
    objectKind: kind,
    objectId: source.name,
    detail: {
      created: created.length,
      changed: changed.length,
      names: [...created, ...changed].slice(0, NAMES_IN_AUDIT),
    },
  });
}

export async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length >= size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Undefined text means that the source does not reveal the secret. */
export type OpenedSecret = { text: string | undefined } | { problem: string };

export function openSecret(secret: SourceSecret, fernet: Fernet): OpenedSecret {
  switch (secret.kind) {
    case 'none':
      return { text: '' };
    case 'plain':
      return { text: secret.text };
    case 'withheld':
      return { text: undefined };
    case 'encrypted': {
      if (!fernet.hasKeys)
        return { problem: 'is encrypted: give the Fernet key (--fernet-key-file, or AIRFLOW__CORE__FERNET_KEY)' };
      const text = fernet.decrypt(secret.token);
      return text === undefined ? { problem: 'does not open with the Fernet keys that were given' } : { text };
    }
  }
}
