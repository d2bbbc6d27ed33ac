/**
 * Key rotation: seals everything that is stored with the current key, so that older keys can be taken out of the
 * configuration. Variables that were stored plainly, before there was a key, are sealed too.
 *
 * It walks over the tables in small batches and replaces each value only if it is still the one that was read, so it can
 * run while servers write, be interrupted and started again, or run twice at once: a value is either untouched or done.
 * No lock is held from one row to the next.
 */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../db/database.ts';
import { UnsealError } from './keyring.ts';
import type { Keyring, SealedPlace } from './keyring.ts';
import { connectionPlace, variablePlace } from './vault.ts';

export type ResealResult = {
  /** Rows looked at. */
  examined: number;
  /** Rows that are sealed with the current key now and were not before. */
  resealed: number;
  /** Why a value could not be opened, and where it is. Such values stay as they are. */
  unreadable: string[];
  /** Rows that kept changing under our hands. More than none means: run it again. */
  contended: number;
};

export type ResealOptions = {
  db: Database;
  keyring: Keyring;
  /** Called after each batch with the counts so far. */
  onProgress?: (soFar: Readonly<ResealResult>) => void;
  batchSize?: number;
};

type Pass = ResealResult & { db: SharedDb; keyring: Keyring; batchSize: number; report(): void };
type Step = 'nothing to do' | 'resealed' | 'contended';

/** A row that somebody wrote in between is usually sealed with the current key by that very write. */
const MAX_PASSES = 3;

export async function reseal({ db, keyring, onProgress, batchSize = 200 }: ResealOptions): Promise<ResealResult> {
  if (!keyring.canSeal) throw new Error('there is no key to seal with: set SVC_SECRET_KEY (openssl rand -hex 32)');
  let resealed = 0;
  for (let number = 1; ; number += 1) {
    const pass: Pass = {
      db: db.shared,
      keyring,
      batchSize,
      examined: 0,
      resealed,
      unreadable: [],
      contended: 0,
      report: () => onProgress?.(resultOf(pass)),
    };
    await walk(pass, connectionsAfter, resealConnection);
    await walk(pass, variablesAfter, resealVariable);
    resealed = pass.resealed;
    if (pass.contended === 0 || number >= MAX_PASSES) return resultOf(pass);
  }
}

const resultOf = ({ examined, resealed, unreadable, contended }: Pass): ResealResult => ({
  examined,
  resealed,
  unreadable: [...unreadable],
  contended,
});

async function walk<Row>(
  pass: Pass,
  batchAfter: (pass: Pass, last: Row | undefined) => Promise<Row[]>,
  resealRow: (pass: Pass, row: Row) => Promise<Step>,
): Promise<void> {
  let last: Row | undefined;
  for (;;) {
    const batch = await batchAfter(pass, last);
    if (batch.length === 0) return;
    for (const row of batch) {
      const step = await resealRow(pass, row);
      pass.examined += 1;
      if (step === 'resealed') pass.resealed += 1;
      if (step === 'contended') pass.contended += 1;
    }
    last = batch.at(-1);
    pass.report();
  }
}

type StoredConnection = {
  tenant_id: string;
  connection_id: string;
  password_sealed: string | null;
  extra_sealed: string | null;
};

function connectionsAfter({ db, batchSize }: Pass, last: StoredConnection | undefined): Promise<StoredConnection[]> {
  const rows = db
    .selectFrom('connections')
    .select(['tenant_id', 'connection_id', 'password_sealed', 'extra_sealed'])
    .orderBy('tenant_id')
    .orderBy('connection_id')
    .limit(batchSize);
  // Along the primary key: each batch costs its own size, wherever it begins.
  return last
    ? rows.where(sql<boolean>`(tenant_id, connection_id) > (${last.tenant_id}::uuid, ${last.connection_id})`).execute()
    : rows.execute();
}

async function resealConnection(pass: Pass, row: StoredConnection): Promise<Step> {
  const place = (column: 'password' | 'extra') => connectionPlace(row.tenant_id, row.connection_id, column);
  const password = resealValue(pass, row.password_sealed, place('password'));
  const extra = resealValue(pass, row.extra_sealed, place('extra'));
  if (password === row.password_sealed && extra === row.extra_sealed) return 'nothing to do';
  const { numUpdatedRows } = await pass.db
    .updateTable('connections')
    .set({ password_sealed: password, extra_sealed: extra })
    .where('tenant_id', '=', row.tenant_id)
    .where('connection_id', '=', row.connection_id)
    .where('password_sealed', 'is not distinct from', row.password_sealed)
    .where('extra_sealed', 'is not distinct from', row.extra_sealed)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n ? 'resealed' : 'contended';
}

type StoredVariable = { tenant_id: string; key: string; value_plain: string | null; value_sealed: string | null };

function variablesAfter({ db, batchSize }: Pass, last: StoredVariable | undefined): Promise<StoredVariable[]> {
  const rows = db
    .selectFrom('variables')
    .select(['tenant_id', 'key', 'value_plain', 'value_sealed'])
    .orderBy('tenant_id')
    .orderBy('key')
    .limit(batchSize);
  return last
    ? rows.where(sql<boolean>`(tenant_id, key) > (${last.tenant_id}::uuid, ${last.key})`).execute()
    : rows.execute();
}

async function resealVariable(pass: Pass, row: StoredVariable): Promise<Step> {
  const place = variablePlace(row.tenant_id, row.key);
  const sealed =
    row.value_plain === null ? resealValue(pass, row.value_sealed, place) : pass.keyring.seal(row.value_plain, place);
  if (sealed === row.value_sealed) return 'nothing to do';
  const { numUpdatedRows } = await pass.db
    .updateTable('variables')
    .set({ value_plain: null, value_sealed: sealed })
    .where('tenant_id', '=', row.tenant_id)
    .where('key', '=', row.key)
    .where('value_plain', 'is not distinct from', row.value_plain)
    .where('value_sealed', 'is not distinct from', row.value_sealed)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n ? 'resealed' : 'contended';
}

/** The same bytes when there is nothing to do, or nothing that can be done. */
function resealValue({ keyring, unreadable }: Pass, sealed: string | null, place: SealedPlace): string | null {
  if (sealed === null || !keyring.isStale(sealed)) return sealed;
  try {
    return keyring.seal(keyring.unseal(sealed, place), place);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    unreadable.push(error.message);
    return sealed;
  }
}
