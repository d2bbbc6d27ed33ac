/**
 * Writes a prepared artifact as an immutable, numbered version, in the transaction of the caller. A registration has a
 * transaction of its own; a deployment writes all its versions in one.
 */
import { instantFromDate, instantFromIso } from '@svc/spec/timetables/instant.ts';
import { description, summary } from '@svc/spec/timetables/presentation.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { DataInterval } from '@svc/spec/timetables/types.ts';
import { findVersion, insertVersion, lastDeletedVersion } from '../db/dags/dag-versions.ts';
import type { DagVersionRow } from '../db/dags/dag-versions.ts';
import { replaceDagWarnings } from '../db/dags/dag-warnings.ts';
import { lockDag, upsertDag } from '../db/dags/dags.ts';
import type { DagValues } from '../db/dags/dags.ts';
import { deleteImportError } from '../db/dags/import-errors.ts';
import { refreshProviders } from '../db/dags/providers.ts';
import type { TenantDb } from '../db/database.ts';
import { isImported } from '../db/imports/imported-version.ts';
import { asksTimetable, nextRunColumns, runAfterInterval } from '../engine/runs/dag-schedule.ts';
import { lockDagRow } from '../engine/sql/dag-rows.ts';
import { lastAutomatedInterval } from '../engine/sql/due-dags.ts';
import type { Artifact } from './artifact.ts';
import type { PreparedVersion } from './prepare-version.ts';
import { registerAssets } from './register-assets.ts';

const DEFAULT_BUNDLE = 'dags';

export type WrittenVersion = { version: DagVersionRow; isNew: boolean };

/**
 * Locks the DAG until the end of the transaction. A caller that writes several DAGs takes them in the order of their
 * ids, so that two callers cannot wait for each other.
 */
export async function writeVersion(
  trx: TenantDb,
  prepared: PreparedVersion,
  { isTaskEnvironment = false, now = new Date() }: { isTaskEnvironment?: boolean; now?: Date },
): Promise<WrittenVersion> {
  const { dagId, artifact, spec, text, contentHash, providers } = prepared;
  await lockDag(trx, dagId);
  await lockDagRow(trx, dagId);
  const current = await findVersion(trx, dagId);
  const isNew = current?.content_hash !== contentHash;
  // Imported versions come before all others, including those of a deleted DAG.
  const newest = current && !isImported(current) ? current.version_number : await lastDeletedVersion(trx, dagId);
  const versionNumber = newest + (isNew ? 1 : 0);
  const lastInterval = await lastIntervalOf(trx, dagId, spec.schedule);
  const computed = dagValues({ spec, artifact, versionNumber, lastInterval, now });
  const values = {
    ...computed,
    ...(prepared.file !== undefined && { relative_fileloc: prepared.file }),
    tree: prepared.tree ?? null,
  };
  await upsertDag(trx, { ...values, installed_providers: isNew ? (providers ?? null) : undefined });
  if (!isNew) await refreshProviders(trx, dagId, { providers, isTaskEnvironment });
  const conflicts = await registerAssets(trx, { dagId, versionNumber }, spec);
  await replaceDagWarnings(trx, dagId, [
    ...(artifact.warnings ?? []).map((message) => ({ type: 'runtime varying value', message })),
    ...(artifact.differences ?? []).map((message) => ({ type: 'airflow difference', message })),
    ...conflicts.map((message) => ({ type: 'asset conflict', message })),
  ]);
  await deleteImportError(trx, { bundleName: values.bundle_name, filename: prepared.file ?? spec.source.path });
  if (isNew) {
    await insertVersion(trx, {
      dag_id: dagId,
      version_number: versionNumber,
      content_hash: contentHash,
      spec: text,
      source: spec.source.text,
      bundle_name: values.bundle_name,
      bundle_version: artifact.bundle_version ?? null,
      bundle_url: artifact.bundle_url ?? null,
      image: artifact.image ?? null,
      values_read: valuesReadOf(artifact),
    });
  }
  const version = await findVersion(trx, dagId);
  if (!version) throw new Error('unreachable: the version was just written');
  return { version, isNew };
}

export const pluginsOf = ({ plugins }: CompiledSpec): string | null => (plugins ? JSON.stringify(plugins) : null);

export const valuesReadOf = ({ values_read: reads }: Artifact): string | null =>
  reads && reads.length > 0 ? JSON.stringify(reads) : null;

export const placeOf = (spec: CompiledSpec, artifact: Artifact) => ({
  fileloc: artifact.fileloc ?? spec.source.path,
  relativeFileloc: spec.source.path,
  bundleName: artifact.bundle_name ?? DEFAULT_BUNDLE,
  bundleVersion: artifact.bundle_version ?? null,
  parseSeconds: artifact.parse_seconds ?? null,
});

/** A new version continues after the last interval of the previous one, so no interval runs twice. */
async function lastIntervalOf(trx: TenantDb, dagId: string, timetable: TimetableSpec): Promise<DataInterval | null> {
  const last = await lastAutomatedInterval(trx, dagId, timetable);
  const start = last && instantFromIso(last.start);
  const end = last && instantFromIso(last.end);
  return start === null || end === null ? null : { start, end };
}

function dagValues({
  spec,
  artifact,
  versionNumber,
  lastInterval,
  now,
}: {
  spec: CompiledSpec;
  artifact: Artifact;
  versionNumber: number;
  lastInterval: DataInterval | null;
  now: Date;
}): Omit<DagValues, 'tree'> {
  const { dag, schedule: timetable } = spec;
  const place = placeOf(spec, artifact);
  const schedule = { timetable, catchup: dag.catchup, start_date: dag.start_date, end_date: dag.end_date };
  const isScheduled = dag.allowed_run_types?.includes('scheduled') ?? true;
  const next = isScheduled ? runAfterInterval(schedule, lastInterval, instantFromDate(now)) : null;
  return {
    dag_id: dag.dag_id,
    display_name: dag.display_name,
    description: dag.description,
    fileloc: place.fileloc,
    relative_fileloc: place.relativeFileloc,
    bundle_name: place.bundleName,
    bundle_version: place.bundleVersion,
    owners: dag.owners,
    tags: dag.tags,
    // This is Airflow's default: a new DAG waits until a person has looked at it.
    is_paused: dag.is_paused_upon_creation ?? true,
    timetable: JSON.stringify(timetable),
    timetable_summary: summary(timetable),
    timetable_description: description(timetable),
    catchup: dag.catchup,
    start_date: dag.start_date,
    end_date: dag.end_date,
    max_active_runs: dag.max_active_runs,
    max_active_tasks: dag.max_active_tasks,
    max_consecutive_failed_dag_runs: dag.max_consecutive_failed_dag_runs,
    has_task_concurrency_limits: dag.has_task_concurrency_limits,
    allowed_run_types: dag.allowed_run_types,
    ...nextRunColumns(next),
    plugins: pluginsOf(spec),
    values_read: valuesReadOf(artifact),
    timetable_ask_at:
      isScheduled && asksTimetable(schedule, lastInterval, instantFromDate(now)) ? now.toISOString() : null,
    current_version: versionNumber,
    last_parse_seconds: place.parseSeconds,
  };
}
