/**
 * Turns a compiled artifact into an immutable, numbered version.
 *
 * Registrations of one DAG run one after the other, so numbers have no gaps. Content that equals the current version
 * creates no new version, so deploying again is nearly free. Content that was current before and comes back creates a
 * new version, because the order of versions is the history of what ran.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalJsonInTurns } from '@svc/spec/canonical-in-turns.ts';
import { readPodOverride } from '@svc/spec/project/pod-override.ts';
import type { OverridePolicy } from '@svc/spec/project/pod-override.ts';
import { ProviderReportError, readProviders } from '@svc/spec/installed-providers.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { customIn, withTable } from '@svc/spec/timetables/custom-runs.ts';
import { instantFromDate, instantFromIso } from '@svc/spec/timetables/instant.ts';
import { description, summary } from '@svc/spec/timetables/presentation.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { DataInterval } from '@svc/spec/timetables/types.ts';
import { timetableProblems } from '@svc/spec/timetables/validate.ts';
import { validateSpecInTurns } from '@svc/spec/validate.ts';
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Actor } from '../db/identity/audit-log.ts';
import { confirmVersion, findVersion, insertVersion, lastDeletedVersion } from '../db/dags/dag-versions.ts';
import type { DagVersionRow } from '../db/dags/dag-versions.ts';
import { replaceDagWarnings } from '../db/dags/dag-warnings.ts';
import { lockDag, upsertDag } from '../db/dags/dags.ts';
import type { DagValues } from '../db/dags/dags.ts';
import { refreshProviders } from '../db/dags/providers.ts';
import type { TenantDb } from '../db/database.ts';
import { lockDagRow } from '../engine/sql/dag-rows.ts';
import { lastAutomatedInterval } from '../engine/sql/due-dags.ts';
import { isImported } from '../db/imports/imported-version.ts';
import { deleteImportError } from '../db/dags/import-errors.ts';
import { asksTimetable, nextRunColumns, runAfterInterval } from '../engine/runs/dag-schedule.ts';
import type { Artifact } from './artifact.ts';
import { registerAssets } from './register-assets.ts';

export type Registration =
  | { kind: 'created' | 'unchanged'; version: DagVersionRow }
  | { kind: 'refused'; problems: string[] };

const DEFAULT_BUNDLE = 'dags';

export async function registerVersion(
  db: TenantDb,
  input: {
    dagId: string;
    artifact: Artifact;
    actor: Actor;
    /** With pods: the overrides of pods that authors may declare. */
    podPolicy?: OverridePolicy | undefined;
    /** The executors that `executor=` may name. If absent, it may name any. */
    executors?: readonly string[] | undefined;
    /**
     * True if its tasks run in the environment that compiled it. What the compiler found there is then newer than what
     * a worker reported.
     */
    isTaskEnvironment?: boolean;
    /** The current time, for tests of schedules. */
    now?: Date;
  },
): Promise<Registration> {
  const { dagId, artifact, actor, isTaskEnvironment = false, now = new Date() } = input;
  const checked = await checkSpec(artifact.spec, input);
  if ('problems' in checked) return { kind: 'refused', problems: checked.problems };
  const { spec } = checked;

  const listed = await providersOf(artifact);
  if ('problem' in listed) return { kind: 'refused', problems: [listed.problem] };
  const { providers } = listed;

  const text = await canonicalJsonInTurns(spec);
  // The answers of a custom timetable depend on the time of the compilation. They must not make a new version.
  const isTimetableOwn = customIn(spec.schedule) !== null;
  const hashed = isTimetableOwn
    ? await canonicalJsonInTurns({ ...spec, schedule: withTable(spec.schedule, undefined) })
    : text;
  const contentHash = await hashOf([hashed, '\0', artifact.image ?? '']);
  if (!isTimetableOwn && !artifact.warnings?.length && !artifact.differences?.length) {
    const version = await confirmVersion(db, {
      dagId,
      contentHash,
      plugins: pluginsOf(spec),
      valuesRead: valuesReadOf(artifact),
      providers,
      isTaskEnvironment,
      ...placeOf(spec, artifact),
    });
    if (version) return { kind: 'unchanged', version };
  }
  return db.transaction().execute(async (trx) => {
    await lockDag(trx, dagId);
    await lockDagRow(trx, dagId);
    const current = await findVersion(trx, dagId);
    const isNew = current?.content_hash !== contentHash;
    // Imported versions come before all others, including those of a deleted DAG.
    const newest = current && !isImported(current) ? current.version_number : await lastDeletedVersion(trx, dagId);
    const versionNumber = newest + (isNew ? 1 : 0);
    const lastInterval = await lastIntervalOf(trx, dagId, spec.schedule);
    const values = dagValues({ spec, artifact, versionNumber, lastInterval, now });
    await upsertDag(trx, { ...values, installed_providers: isNew ? (providers ?? null) : undefined });
    if (!isNew) await refreshProviders(trx, dagId, { providers, isTaskEnvironment });
    const conflicts = await registerAssets(trx, { dagId, versionNumber }, spec);
    await replaceDagWarnings(trx, dagId, [
      ...(artifact.warnings ?? []).map((message) => ({ type: 'runtime varying value', message })),
      ...(artifact.differences ?? []).map((message) => ({ type: 'airflow difference', message })),
      ...conflicts.map((message) => ({ type: 'asset conflict', message })),
    ]);
    await deleteImportError(trx, { bundleName: values.bundle_name, filename: spec.source.path });
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
      await recordAudit(trx, actor, {
        event: 'post_dag_version',
        objectKind: 'dag',
        objectId: dagId,
        dagId,
        detail: { version_number: versionNumber },
      });
    }
    const version = await findVersion(trx, dagId);
    if (!version) throw new Error('unreachable: the version was just written');
    return { kind: isNew ? 'created' : 'unchanged', version };
  });
}

const pluginsOf = ({ plugins }: CompiledSpec): string | null => (plugins ? JSON.stringify(plugins) : null);

const valuesReadOf = ({ values_read: reads }: Artifact): string | null =>
  reads && reads.length > 0 ? JSON.stringify(reads) : null;

/**
 * Returns the providers as they are stored. Undefined means that its environment is unknown; null means that it has
 * none.
 */
async function providersOf({
  providers,
}: Artifact): Promise<{ providers: string | null | undefined } | { problem: string }> {
  if (!providers) return { providers: undefined };
  try {
    return { providers: providers.length > 0 ? JSON.stringify(await readProviders(providers)) : null };
  } catch (error) {
    if (error instanceof ProviderReportError) return { problem: error.message };
    throw error;
  }
}

const placeOf = (spec: CompiledSpec, artifact: Artifact) => ({
  fileloc: artifact.fileloc ?? spec.source.path,
  relativeFileloc: spec.source.path,
  bundleName: artifact.bundle_name ?? DEFAULT_BUNDLE,
  bundleVersion: artifact.bundle_version ?? null,
  parseSeconds: artifact.parse_seconds ?? null,
});

/** Characters that are hashed in one turn of the event loop. */
const HASHED_AT_ONCE = 1024 * 1024;

async function hashOf(texts: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const text of texts) {
    for (let from = 0; from < text.length;) {
      if (from > 0) await nextTurn();
      const end = from + HASHED_AT_ONCE;
      // Never splits a surrogate pair, because each half would be encoded as another character.
      const to = end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end;
      hash.update(text.slice(from, to));
      from = to;
    }
  }
  return hash.digest('hex');
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** Checks the shape and the references first, because only a valid spec has an id and a schedule. */
async function checkSpec(
  value: object,
  {
    dagId,
    podPolicy,
    executors,
  }: { dagId: string; podPolicy?: OverridePolicy | undefined; executors?: readonly string[] | undefined },
): Promise<{ spec: CompiledSpec } | { problems: string[] }> {
  const shapeProblems = await validateSpecInTurns(value);
  if (shapeProblems.length > 0) return { problems: shapeProblems };
  const spec = value as CompiledSpec; // the validation above proves the type
  const problems = [
    ...(spec.dag.dag_id === dagId ? [] : [`the spec is of DAG ${spec.dag.dag_id}, not of ${dagId}`]),
    ...timetableProblems(spec.schedule).map(({ path, message }) => `schedule${path}: ${message}`),
    ...(podPolicy ? overrideProblems(spec, podPolicy) : []),
    ...(executors ? executorProblems(spec, executors) : []),
  ];
  return problems.length > 0 ? { problems } : { spec };
}

const overrideProblems = ({ tasks }: CompiledSpec, policy: OverridePolicy): string[] =>
  tasks.flatMap(({ task_id: taskId, executor_config: config }) =>
    readPodOverride(config, policy).problems.map((problem) => `task ${taskId}: ${problem}`),
  );

const executorProblems = ({ tasks }: CompiledSpec, executors: readonly string[]): string[] =>
  tasks.flatMap(({ task_id: taskId, policy: { executor } }) =>
    executor === null || executors.includes(executor)
      ? []
      : [
          `task ${taskId}: executor=${JSON.stringify(executor)} names no executor of this installation, which has ${executors.join(', ')}: name one of them, leave it out for the default, or add it to executor.type`,
        ],
  );

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
}): DagValues {
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
