/**
 * Imports runs and their task instances. They can be read, and never run.
 *
 *   a page of runs ──▶ finished ones that are missing here ──▶ groups of some thousand instances, each one transaction:
 *   runs, instances page by page, earlier tries, the counts of each run, and the progress
 *
 * If it is killed, the next import continues after the last committed group. Only one page is in memory.
 */
import { findPosition, saveFinished, savePosition } from '@svc/server/db/imports/checkpoints.ts';
import {
  countImportedInstances,
  deleteImportedRuns,
  findRunsInTheWay,
  insertImportedInstances,
  insertImportedRuns,
  insertImportedTries,
} from '@svc/server/db/imports/imported-runs.ts';
import type { ImportedRun, StoredRun } from '@svc/server/db/imports/imported-runs.ts';
import { isImported } from '@svc/server/db/imports/imported-version.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import type { SourceDag, SourceRun, SourceTry } from '@svc/server/db/imports/airflow/source-types.ts';
import { becomeKnown } from './dags.ts';
import { instanceOf, runOf, tryOf } from './history-rows.ts';
import { inTransaction, recordImport } from './migration.ts';
import type { Migration } from './migration.ts';
import type { Report } from './report.ts';

const INSTANCES_PER_GROUP = 5_000;
const RUNS_PER_GROUP = 500;

export async function migrateHistory(migration: Migration): Promise<void> {
  const { source, db, tenant, report, scope, since } = migration;
  const key = { source: source.name, kind: 'history' };
  const names = await source.dagsWithRuns();
  const wanted = names.filter((name) => migration.wantsDag(name));
  const after = migration.isApplied ? await findPosition(db.tenant(tenant.id), key, scope) : undefined;
  if (after !== undefined) report.note('history', 'it goes on where an earlier import was interrupted');
  const dagIds = wanted.length === names.length ? undefined : wanted;
  const dags = await dagsOf(migration);
  let runs = 0;
  for await (const page of source.runs(after, { dagIds, since })) {
    const importable = await sorted(migration, page, dags);
    for (const group of groupsOf(importable)) {
      if (migration.isStopped()) throw new InterruptedError();
      if (migration.isApplied) await importGroup(migration, group, key);
      else countBefore(report, group);
      runs += group.length;
      migration.say(`${runs} runs, ${report.instances} task instances`);
    }
    const last = page.at(-1);
    if (migration.isApplied && last) await savePosition(db.tenant(tenant.id), key, { scope, position: last.position });
  }
  if (source.learnsTasks) for (const dag of dags.known.values()) await know(migration, dag);
  if (migration.isApplied) await saveFinished(db.tenant(tenant.id), key, scope);
  report.note(
    'history',
    'values that tasks left (XCom), rendered fields and logs do not come over: docs/migrating.md says why',
  );
}

/** With an HTTP API, the number of instances of a run is known only after they are read. */
function countBefore(report: Report, group: readonly Importable[]): void {
  for (const { run } of group) report.instances += run.instances ?? 0;
  if (group.some(({ run }) => run.instances === undefined))
    report.note('history', 'how many task instances there are is known when they are read');
}

/** The user stopped the import. Committed groups stay. */
export class InterruptedError extends Error {}

type Importable = { run: SourceRun; row: ImportedRun; replaces: number | undefined };

/** Decides what to do with each run of a page, and returns the runs to write. */
async function sorted(migration: Migration, page: readonly SourceRun[], dags: Dags): Promise<Importable[]> {
  const { report, db, tenant, overwrites } = migration;
  const runs = await migration.readPickles(page);
  const usable = runs.flatMap((run): Importable[] => {
    const made = runOf(run);
    if ('reason' in made) {
      report.add({ kind: 'history', name: `${run.dagId} ${run.runId}`, outcome: 'skip', reason: made.reason });
      return [];
    }
    if (made.remark !== undefined) report.note('history', made.remark);
    return [{ run, row: made.row, replaces: undefined }];
  });
  const inTheWay = await findRunsInTheWay(
    db.tenant(tenant.id),
    tenant.id,
    usable.map(({ row }) => row),
  );
  const byName = new Map(inTheWay.map((run) => [nameOf(run), run]));
  const byDate = new Map(inTheWay.map((run) => [`${run.dag_id} ${run.logical_date}`, run]));
  const result: Importable[] = [];
  for (const item of usable) {
    const { row } = item;
    const same = byName.get(nameOf(row));
    const other = row.logical_date === null ? undefined : byDate.get(`${row.dag_id} ${row.logical_date}`);
    const decision = decide(row, { same, other, overwrites });
    if (decision.outcome === 'create' || decision.outcome === 'change') {
      await makeKnown(migration, row.dag_id, dags);
      result.push({ ...item, replaces: same?.id });
      if (!migration.isApplied) report.count('history', decision.outcome, 1);
    } else if (decision.outcome === 'same') report.count('history', 'same', 1);
    else report.add({ kind: 'history', name: `${row.dag_id} ${row.run_id}`, ...decision });
  }
  return result;
}

const nameOf = (run: { dag_id: string; run_id: string }): string => `${run.dag_id} ${run.run_id}`;

function decide(
  row: ImportedRun,
  { same, other, overwrites }: { same: StoredRun | undefined; other: StoredRun | undefined; overwrites: boolean },
): { outcome: 'create' | 'change' | 'same' | 'left'; reason?: string } {
  if (same && !isImported(same)) return { outcome: 'left', reason: 'a run of this id was made here and stays' };
  if (same && same.state === row.state && same.end_date === row.end_date) return { outcome: 'same' };
  if (other && other.id !== same?.id)
    return { outcome: 'left', reason: `the run ${other.run_id} has the same logical date here and stays` };
  if (!same) return { outcome: 'create' };
  return overwrites
    ? { outcome: 'change' }
    : { outcome: 'left', reason: 'it ended otherwise there since it was imported; --overwrite imports it anew' };
}

/** Groups runs that are written together. A run with very many instances is a group of its own. */
function* groupsOf(items: readonly Importable[]): Generator<Importable[]> {
  let group: Importable[] = [];
  let instances = 0;
  for (const item of items) {
    group.push(item);
    instances += item.run.instances ?? 1_000;
    if (instances >= INSTANCES_PER_GROUP || group.length >= RUNS_PER_GROUP) {
      yield group;
      [group, instances] = [[], 0];
    }
  }
  if (group.length > 0) yield group;
}

type Dags = { source: ReadonlyMap<string, SourceDag>; known: Map<string, SourceDag> };

async function dagsOf({ source }: Migration): Promise<Dags> {
  const dags = new Map<string, SourceDag>();
  for await (const dag of source.dags()) dags.set(dag.id, dag);
  return { source: dags, known: new Map() };
}

/** Makes each DAG known once, so that its tasks are known even if it is not deployed here. */
async function makeKnown(migration: Migration, dagId: string, dags: Dags): Promise<void> {
  if (dags.known.has(dagId)) return;
  const dag = dags.source.get(dagId) ?? gone(dagId);
  dags.known.set(dagId, dag);
  await know(migration, dag);
}

async function know(migration: Migration, dag: SourceDag): Promise<void> {
  if (migration.isApplied) await inTransaction(migration, (trx) => becomeKnown(migration, trx, dag));
}

/** A DAG that Airflow has deleted may still have runs. It is paused, and only its id is known. */
const gone = (dagId: string): SourceDag => ({
  id: dagId,
  displayName: dagId,
  description: null,
  fileloc: '',
  relativeFileloc: null,
  owners: [],
  tags: [],
  isPaused: true,
  isActive: false,
});

async function importGroup(
  migration: Migration,
  group: readonly Importable[],
  key: { source: string; kind: string },
): Promise<void> {
  const { tenant, report, scope } = migration;
  let instances = 0;
  let created: string[] = [];
  let replaced: number[] = [];
  await inTransaction(migration, async (trx) => {
    instances = 0;
    replaced = group.flatMap(({ replaces }) => replaces ?? []);
    if (replaced.length > 0) await deleteImportedRuns(trx, replaced);
    const inserted = await insertImportedRuns(
      trx,
      tenant.id,
      group.map(({ row }) => row),
    );
    const ids = new Map(inserted.map((run) => [nameOf(run), run.id]));
    created = [...ids.keys()];
    const runs = group.filter(({ row }) => ids.has(nameOf(row))).map(({ run }) => run);
    instances = await importInstances(migration, trx, runs, ids);
    await countImportedInstances(trx, tenant.id, [...ids.values()]);
    const last = group.at(-1);
    if (last) await savePosition(trx, key, { scope, position: last.run.position });
    await recordImport(migration, trx, {
      kind: 'history',
      done: created.map((name) => ({ name, outcome: 'create' })),
    });
  });
  report.count('history', 'change', replaced.length);
  report.count('history', 'create', created.length - replaced.length);
  // Counts runs that were created here between the query and the insert.
  report.count('history', 'left', group.length - created.length);
  report.instances += instances;
}

async function importInstances(
  { source, tenant, report }: Migration,
  trx: TenantDb,
  runs: readonly SourceRun[],
  ids: ReadonlyMap<string, number>,
): Promise<number> {
  let instances = 0;
  const idOf = (row: SourceTry): number => ids.get(`${row.dagId} ${row.runId}`) ?? 0;
  for await (const page of source.instances(runs)) {
    const rows = page.map((row) => instanceOf(row, idOf(row)));
    if (rows.some((row, index) => row.state === null && page[index]?.state !== null))
      report.note('history', 'task instances that were still live in a finished run have no status here');
    await insertImportedInstances(trx, tenant.id, rows);
    instances += rows.length;
  }
  for await (const page of source.earlierTries(runs))
    await insertImportedTries(
      trx,
      tenant.id,
      page.map((row) => tryOf(row, idOf(row))),
    );
  return instances;
}
