/**
 * Imports pause states. A DAG that is not deployed here yet is created as stale, with its pause state. Deploying it
 * keeps that state, as for every existing DAG.
 */
import { findDags, findImportedSpec, saveImportedDag } from '@svc/server/db/imports/imported-dags.ts';
import { setPaused } from '@svc/server/db/dags/dags.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import type { SourceDag } from '@svc/server/db/imports/airflow/source-types.ts';
import { isDagId } from '@svc/spec/ids.ts';
import { importedSpec } from './imported-spec.ts';
import { inBatches, inTransaction, recordImport } from './migration.ts';
import type { Migration } from './migration.ts';
import type { Entry } from './report.ts';

const BATCH = 50;

export async function migrateDags(migration: Migration): Promise<void> {
  for await (const batch of inBatches(migration.source.dags(), BATCH)) {
    const entries: Entry[] = [];
    await inTransaction(migration, async (trx) => {
      entries.length = 0;
      const wanted = batch.filter((dag) => migration.wantsDag(dag.id));
      const stored = new Map(
        (
          await findDags(
            trx,
            wanted.map((dag) => dag.id),
          )
        ).map((dag) => [dag.dag_id, dag]),
      );
      for (const dag of wanted) entries.push(await migrateDag(migration, trx, dag, stored.get(dag.id)));
      await recordImport(migration, trx, { kind: 'dags', done: entries });
    });
    for (const entry of entries) migration.report.add(entry);
    migration.say(`${migration.report.countsOf('dags').create} DAGs`);
  }
  if (migration.report.countsOf('dags').create > 0)
    migration.report.note(
      'dags',
      'what is not deployed here yet is kept as stale, with its pause state: deploying it ("svc deploy") keeps that state',
    );
}

const pauseWord = (isPaused: boolean): string => (isPaused ? 'paused' : 'not paused');

async function migrateDag(
  migration: Migration,
  trx: TenantDb,
  dag: SourceDag,
  stored: { is_paused: boolean } | undefined,
): Promise<Entry> {
  const named = { kind: 'dags' as const, name: dag.id };
  if (!isDagId(dag.id)) return { ...named, outcome: 'skip', reason: 'its id is not one that a DAG can have here' };
  if (!stored) {
    if (!dag.isActive) return { ...named, outcome: 'skip', reason: 'its file is gone there, too' };
    await becomeKnown(migration, trx, dag);
    return { ...named, outcome: 'create', reason: `${pauseWord(dag.isPaused)}, until it is deployed` };
  }
  if (stored.is_paused === dag.isPaused) return { ...named, outcome: 'same' };
  const reason = `is ${pauseWord(stored.is_paused)} here, ${pauseWord(dag.isPaused)} there`;
  if (!migration.overwrites) return { ...named, outcome: 'left', reason: `${reason}; --overwrite changes it` };
  await setPaused(trx, [dag.id], dag.isPaused);
  return { ...named, outcome: 'change', reason };
}

/** Creates the DAG as far as the source knows it, with the version of imported runs. */
export async function becomeKnown({ source }: Migration, trx: TenantDb, dag: SourceDag): Promise<void> {
  const spec = importedSpec({
    dag,
    serialized: await source.serializedDag(dag.id),
    tasks: await source.tasks(dag.id),
    before: await findImportedSpec(trx, dag.id),
  });
  await saveImportedDag(trx, {
    dag_id: dag.id,
    display_name: dag.displayName,
    description: dag.description,
    fileloc: dag.fileloc,
    relative_fileloc: dag.relativeFileloc,
    owners: dag.owners,
    tags: dag.tags,
    is_paused: dag.isPaused,
    spec,
  });
}
