/**
 * Key rotation: seals all stored values with the current key, so that older keys can be removed from the configuration.
 * It covers connections, variables and the triggers of deferred tasks. Variables that were stored in clear text before
 * a key existed are sealed as well.
 *
 * It reads the tables in small batches, and replaces a value only if it is unchanged since it was read. It can
 * therefore run while servers write, be interrupted and started again, or run twice at once. Each value is either
 * untouched or done. No lock is held from one row to the next.
 */
import type { Database, SharedDb } from '../db/database.ts';
import {
  connectionsAfter,
  replaceConnection,
  replaceTrigger,
  replaceVariable,
  triggersAfter,
  variablesAfter,
} from '../db/secrets/sealed-values.ts';
import type { SealedConnection, SealedTrigger, SealedVariable } from '../db/secrets/sealed-values.ts';
import { UnsealError, isSealed } from './keyring.ts';
import type { Keyring, Binding } from './keyring.ts';
import { connectionBinding, triggerBinding, variableBinding } from './vault.ts';

export type ResealResult = {
  /** Number of rows that were read. */
  examined: number;
  /** Rows that are now sealed with the current key, and were not before. */
  resealed: number;
  /** Why and where a value could not be opened. Such values stay unchanged. */
  unreadable: string[];
  /** Rows that changed during each pass. If there are any, run the rotation again. */
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

/** A concurrent write usually seals its row with the current key, so a few passes are enough. */
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
    await walk(pass, triggersAfter, resealTrigger);
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
  batchAfter: (db: SharedDb, last: Row | undefined, size: number) => Promise<Row[]>,
  resealRow: (pass: Pass, row: Row) => Promise<Step>,
): Promise<void> {
  let last: Row | undefined;
  for (;;) {
    const batch = await batchAfter(pass.db, last, pass.batchSize);
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

async function resealConnection(pass: Pass, row: SealedConnection): Promise<Step> {
  const binding = (column: 'password' | 'extra') => connectionBinding(row.tenant_id, row.connection_id, column);
  const password = resealValue(pass, row.password_sealed, binding('password'));
  const extra = resealValue(pass, row.extra_sealed, binding('extra'));
  if (password === row.password_sealed && extra === row.extra_sealed) return 'nothing to do';
  const after = { ...row, password_sealed: password, extra_sealed: extra };
  return (await replaceConnection(pass.db, row, after)) ? 'resealed' : 'contended';
}

async function resealVariable(pass: Pass, row: SealedVariable): Promise<Step> {
  const binding = variableBinding(row.tenant_id, row.key);
  const sealed =
    row.value_plain === null
      ? resealValue(pass, row.value_sealed, binding)
      : pass.keyring.seal(row.value_plain, binding);
  if (sealed === row.value_sealed) return 'nothing to do';
  const after = { ...row, value_plain: null, value_sealed: sealed };
  return (await replaceVariable(pass.db, row, after)) ? 'resealed' : 'contended';
}

/**
 * Reseals a trigger. A trigger from before a key existed stays in clear text; it is deleted with the task that waits
 * for it.
 */
async function resealTrigger(pass: Pass, row: SealedTrigger): Promise<Step> {
  const resealed = (column: 'kwargs' | 'next_kwargs'): string => {
    const binding = triggerBinding(row.tenant_id, row.attempt_id ?? '', column);
    return (isSealed(row[column]) && resealValue(pass, row[column], binding)) || row[column];
  };
  const after = { ...row, kwargs: resealed('kwargs'), next_kwargs: resealed('next_kwargs') };
  if (after.kwargs === row.kwargs && after.next_kwargs === row.next_kwargs) return 'nothing to do';
  return (await replaceTrigger(pass.db, row, after)) ? 'resealed' : 'contended';
}

/** Returns the same text if it needs no change or cannot be opened. */
function resealValue({ keyring, unreadable }: Pass, sealed: string | null, binding: Binding): string | null {
  if (sealed === null || !keyring.isStale(sealed)) return sealed;
  try {
    return keyring.seal(keyring.unseal(sealed, binding), binding);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    unreadable.push(error.message);
    return sealed;
  }
}
