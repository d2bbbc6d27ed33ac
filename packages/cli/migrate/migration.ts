/** What every kind of thing that is migrated works with. */
import { recordAudit } from '@svc/server/db/identity/audit-log.ts';
import type { Actor } from '@svc/server/db/identity/audit-log.ts';
import type { Database, TenantDb } from '@svc/server/db/database.ts';
import type { AirflowSource, SourceSecret } from '@svc/server/db/imports/airflow/source-types.ts';
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
  /** Is the DAG one of those that are wanted? */
  wantsDag(dagId: string): boolean;
  /** What was asked for, as text: another question does not go on where this one stopped. */
  scope: string;
  since: string | undefined;
  say(text: string): void;
  /** Somebody wants it to stop: between two transactions is a good moment. */
  isStopped(): boolean;
};

class Undone extends Error {}

/** A dry run does everything and takes it back: what it says is what would be. */
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

/** One entry for what one transaction has done. */
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

/** Undefined: the source does not give it out. */
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
