/**
 * Makes a commit current, completely or not at all: one transaction writes the versions of all DAGs that changed, marks
 * those as stale that are gone, and inserts the deployment.
 *
 *   a file is broken, or a DAG id is taken ──▶ refused: nothing changes
 *   the lease has gone to another process  ──▶ superseded: nothing changes
 *   the content is what is current         ──▶ unchanged: no deployment
 *   otherwise                              ──▶ deployed
 *
 * With `on_error: partial`, a broken file keeps the versions that its DAGs have, and the rest is deployed.
 */
import { storeProblemInTurns } from '@svc/spec/storable.ts';
import type { BundleCommit, BundleMessage, CompiledBundleDag } from '@svc/proto/bundle-job.ts';
import { runTree } from '@svc/proto/code-archive.ts';
import { findOwners } from '../db/bundles/bundle-names.ts';
import { lockBundle } from '../db/bundles/bundles.ts';
import type { BundleRow } from '../db/bundles/bundles.ts';
import {
  dagsOfBundle,
  findDeployment,
  insertDeployment,
  lastDeploymentNumber,
  moveDags,
  pruneDeployments,
  replaceCompileWarnings,
  replaceImportErrors,
} from '../db/bundles/deployments.ts';
import type { BundleDag } from '../db/bundles/deployments.ts';
import { markStale } from '../db/dags/dags.ts';
import type { TenantDb } from '../db/database.ts';
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Actor } from '../db/identity/audit-log.ts';
import type { BundleProblem, DagChange, DeployedDag } from '../db/tables/bundles.ts';
import { prepareVersion } from '../registry/prepare-version.ts';
import type { ArtifactPolicy, PreparedVersion } from '../registry/prepare-version.ts';
import { writeVersion } from '../registry/write-version.ts';

export type BrokenFile = Omit<Extract<BundleMessage, { kind: 'broken' }>, 'kind'>;

export type CompiledCommit = {
  commit: BundleCommit;
  /** The hash of its tree. */
  tree: string;
  url: string | undefined;
  dags: readonly CompiledBundleDag[];
  broken: readonly BrokenFile[];
};

/** The settings that decide what is deployed. */
export type SyncedBundle = Pick<BundleRow, 'name' | 'url' | 'ref' | 'folder' | 'on_error' | 'adopts'>;

const isChanged = (now: SyncedBundle, before: SyncedBundle): boolean =>
  (['url', 'ref', 'folder', 'on_error', 'adopts'] as const).some((name) => now[name] !== before[name]);

export type DeployOutcome =
  | { kind: 'deployed'; number: number; changes: Record<string, DagChange>; left: readonly BrokenFile[] }
  | { kind: 'unchanged'; left: readonly BrokenFile[] }
  | { kind: 'refused'; broken: readonly BrokenFile[] }
  | { kind: 'superseded' };

/** `svc deployments list` shows these, and a rollback leads to one of them. */
export const KEPT_DEPLOYMENTS = 100;

type Prepared = { dag: CompiledBundleDag; version: PreparedVersion | undefined };

export async function deployCommit(
  db: TenantDb,
  input: CompiledCommit & {
    /** The bundle as it was when the lease was taken. */
    bundle: SyncedBundle;
    /** The lease under which the commit was compiled. */
    holder: string;
    policy: ArtifactPolicy;
    isTaskEnvironment: boolean;
    /** True when a person has asked for this sync. It deploys also what was undone. */
    isAsked: boolean;
    actor: Actor;
  },
): Promise<DeployOutcome> {
  const { bundle, commit, url } = input;
  const { name: bundleName, on_error: onError } = bundle;
  const broken = [...input.broken, ...repeatedIds(input.dags)];
  const prepared: Prepared[] = [];
  for (const dag of input.dags) {
    const made = await prepare(dag, { bundleName, commit, tree: input.tree, url, policy: input.policy });
    if ('problem' in made) broken.push(made.problem);
    else prepared.push(made);
  }
  if (prepared.length === 0 && broken.length === 0) broken.push(noDag(commit.version));
  if (broken.length > 0 && (onError === 'refuse' || prepared.length === 0)) return { kind: 'refused', broken };
  return db.transaction().execute((trx) => write(trx, { ...input, broken, prepared }));
}

async function write(
  trx: TenantDb,
  input: {
    bundle: SyncedBundle;
    holder: string;
    commit: BundleCommit;
    tree: string;
    url: string | undefined;
    broken: readonly BrokenFile[];
    prepared: readonly Prepared[];
    isTaskEnvironment: boolean;
    isAsked: boolean;
    actor: Actor;
  },
): Promise<DeployOutcome> {
  const { commit, tree, isTaskEnvironment, isAsked } = input;
  const { name: bundleName } = input.bundle;
  const bundle = await lockBundle(trx, bundleName);
  if (bundle?.lease_holder !== input.holder || isChanged(bundle, input.bundle)) return { kind: 'superseded' };
  const taken = await takenIds(trx, { bundleName, adopts: bundle.adopts, prepared: input.prepared });
  const left = [...input.broken, ...taken.values()];
  if (taken.size > 0 && bundle.on_error === 'refuse') return { kind: 'refused', broken: left };
  const mine = input.prepared.filter(({ dag }) => !taken.has(dag.dagId)).sort(byId);

  const before = new Map((await dagsOfBundle(trx, bundleName)).map((dag) => [dag.dag_id, dag]));
  const last =
    bundle.current_deployment === null ? undefined : await findDeployment(trx, bundleName, bundle.current_deployment);
  const dags: Record<string, DeployedDag> = {};
  const changes: Record<string, DagChange> = {};
  const isUndone = ({ dag }: Prepared): boolean =>
    !isAsked && before.has(dag.dagId) && last?.dags[dag.dagId]?.undone?.includes(dag.hash) === true;
  const [held, taking] = [mine.filter(isUndone), mine.filter((one) => !isUndone(one))];
  for (const { dag } of held) {
    const kept = last?.dags[dag.dagId];
    if (kept) dags[dag.dagId] = kept;
  }
  for (const { dag, version } of taking) {
    const had = before.get(dag.dagId);
    if (version && had?.content_hash !== dag.hash) {
      const written = await writeVersion(trx, version, { isTaskEnvironment });
      const after = written.version.version_number;
      changes[dag.dagId] = { change: had ? 'changed' : 'added', before: had?.version_number ?? null, after };
      dags[dag.dagId] = deployedDag(dag, after);
    } else if (had?.content_hash === dag.hash) {
      if (version) await writeVersion(trx, version, { isTaskEnvironment });
      else await refreshWarnings(trx, dag, last?.dags[dag.dagId]);
      dags[dag.dagId] = deployedDag(dag, had.version_number);
    } else {
      // The DAG was deleted or changed while it was compiled. The next sync sends it.
      return { kind: 'superseded' };
    }
  }
  for (const [dagId, kept] of keptDags({ before, mine, left, last: last?.dags })) dags[dagId] = kept;
  const removed = [...before.values()].filter(({ dag_id: id }) => dags[id] === undefined);
  for (const { dag_id: id, version_number: number } of removed)
    changes[id] = { change: 'removed', before: number, after: null };
  if (removed.length > 0) await markStale(trx, removed.map(({ dag_id: id }) => id)); // prettier-ignore
  await moveDags(trx, commit.version, taking.filter(({ dag }) => changes[dag.dagId] === undefined).map((one) => movedDag(one, tree))); // prettier-ignore
  await replaceImportErrors(trx, bundleName, importErrors(left, commit.version));
  const isSame = last?.version === commit.version && last.root === commit.root && last.tree === tree;
  if (isSame && Object.keys(changes).length === 0) return { kind: 'unchanged', left };

  const number = (await lastDeploymentNumber(trx, bundleName)) + 1;
  await insertDeployment(trx, {
    bundle_name: bundleName,
    number,
    kind: 'sync',
    repeats: null,
    version: commit.version,
    author: commit.author,
    message: commit.message,
    committed_at: commit.committedAt,
    url: input.url ?? null,
    root: commit.root,
    tree,
    dags: JSON.stringify(dags),
    changes: JSON.stringify(changes),
    changed: Object.keys(changes).length,
    problems: left.length === 0 ? null : JSON.stringify(problemsOf(left)),
    created_by: input.actor.name,
  });
  await pruneDeployments(trx, bundleName, KEPT_DEPLOYMENTS);
  await recordAudit(trx, input.actor, {
    event: 'post_deployment',
    objectKind: 'bundle',
    objectId: bundleName,
    detail: { number, version: commit.version, changed: Object.keys(changes).length },
  });
  return { kind: 'deployed', number, changes, left };
}

const byId = (a: Prepared, b: Prepared): number => (a.dag.dagId < b.dag.dagId ? -1 : 1);

/** The API shows this many. The web UI has all of them, by file. */
const MOST_PROBLEMS = 100;
const LONGEST_MESSAGE = 2_000;
const LONGEST_TRACE = 262_144;

export const problemsOf = (broken: readonly BrokenFile[]): BundleProblem[] =>
  broken
    .slice(0, MOST_PROBLEMS)
    .map(({ file, line, message }) => ({ file, line, message: message.slice(0, LONGEST_MESSAGE) }));

/** As the web UI shows them next to the DAGs. */
export const importErrors = (
  broken: readonly BrokenFile[],
  version: string,
): { filename: string; stackTrace: string }[] => {
  const byFile = Map.groupBy(broken, ({ source }) => source);
  return [...byFile].map(([filename, problems]) => ({
    filename: filename === '' ? '(bundle)' : filename,
    stackTrace: `in commit ${version}:\n${problems.map(({ text }) => text).join('\n')}`.slice(0, LONGEST_TRACE),
  }));
};

async function prepare(
  dag: CompiledBundleDag,
  {
    bundleName,
    commit,
    tree,
    url,
    policy,
  }: { bundleName: string; commit: BundleCommit; tree: string; url: string | undefined; policy: ArtifactPolicy },
): Promise<Prepared | { problem: BrokenFile }> {
  if (dag.spec === undefined) return { dag, version: undefined };
  const fault = await storeProblemInTurns(dag.spec, { name: `DAG ${dag.dagId}` });
  if (fault !== undefined) return { problem: broken(dag.file, fault) };
  const artifact = {
    spec: dag.spec,
    fileloc: dag.fileloc,
    bundle_name: bundleName,
    bundle_version: commit.version,
    ...(url !== undefined && { bundle_url: url }),
    warnings: [...dag.warnings],
    differences: [...dag.differences],
    parse_seconds: dag.seconds,
    ...(dag.providers && { providers: [...dag.providers] as object[] as never }),
    ...(dag.reads.length > 0 && { values_read: [...dag.reads] }),
  };
  const checked = await prepareVersion(dag.dagId, artifact, policy);
  if ('problems' in checked) return { problem: broken(dag.file, `DAG ${dag.dagId}: ${checked.problems.join('; ')}`) };
  return { dag, version: { ...checked.prepared, file: dag.file, tree: runTree(tree, dag) } };
}

const broken = (file: string, message: string): BrokenFile => ({
  file,
  source: file,
  line: null,
  message,
  text: file === '' ? message : `${file}: ${message}`,
});

const noDag = (version: string): BrokenFile =>
  broken('', `there is no DAG in ${version.slice(0, 12)}: check the branch and the folder of the bundle`);

/** The compiler refuses most of these itself, by file. */
function repeatedIds(dags: readonly CompiledBundleDag[]): BrokenFile[] {
  const files = Map.groupBy(dags, ({ dagId }) => dagId);
  return [...files].flatMap(([dagId, [first, second]]) =>
    first && second ? [broken(second.file, `the DAG id "${dagId}" is also in ${first.file}`)] : [],
  );
}

async function takenIds(
  trx: TenantDb,
  { bundleName, adopts, prepared }: { bundleName: string; adopts: boolean; prepared: readonly Prepared[] },
): Promise<Map<string, BrokenFile>> {
  const owners = await findOwners(trx, prepared.map(({ dag }) => dag.dagId)); // prettier-ignore
  return new Map(
    prepared.flatMap(({ dag }) => {
      const owner = owners.get(dag.dagId);
      if (!owner || owner.bundleName === bundleName || (adopts && !owner.isManaged)) return [];
      const instead = owner.isManaged
        ? 'give the DAG another dag_id, or remove it from that bundle first'
        : 'give the DAG another dag_id, or let the bundle take it over ("svc bundles change --adopt")';
      const message = `the DAG id "${dag.dagId}" belongs to the bundle "${owner.bundleName}": ${instead}`;
      return [[dag.dagId, broken(dag.file, message)] as const];
    }),
  );
}

const deployedDag = (dag: CompiledBundleDag, version: number): DeployedDag => ({
  version,
  file: dag.file,
  source: dag.source,
  ...(dag.warnings.length > 0 && { warnings: [...dag.warnings] }),
  ...(dag.differences.length > 0 && { differences: [...dag.differences] }),
});

/** DAGs whose file is broken in this commit keep their version and their place. */
function keptDags(input: {
  before: ReadonlyMap<string, BundleDag>;
  mine: readonly Prepared[];
  left: readonly BrokenFile[];
  last: Readonly<Record<string, DeployedDag>> | undefined;
}): [string, DeployedDag][] {
  const present = new Set(input.mine.map(({ dag }) => dag.dagId));
  const sources = new Set(input.left.map(({ source }) => source));
  return [...input.before.values()].flatMap((dag): [string, DeployedDag][] => {
    const file = dag.relative_fileloc ?? '';
    if (present.has(dag.dag_id) || !sources.has(file)) return [];
    return [[dag.dag_id, input.last?.[dag.dag_id] ?? { version: dag.version_number, file, source: file }]];
  });
}

const warningsOf = (dag: Pick<DeployedDag, 'warnings' | 'differences'>) => [
  ...(dag.warnings ?? []).map((message) => ({ type: 'runtime varying value', message })),
  ...(dag.differences ?? []).map((message) => ({ type: 'airflow difference', message })),
];

async function refreshWarnings(trx: TenantDb, dag: CompiledBundleDag, last: DeployedDag | undefined): Promise<void> {
  const now = warningsOf(deployedDag(dag, 0));
  if (JSON.stringify(now) !== JSON.stringify(last ? warningsOf(last) : [])) {
    await replaceCompileWarnings(trx, dag.dagId, now);
  }
}

const movedDag = ({ dag }: Prepared, tree: string) => ({
  dagId: dag.dagId,
  fileloc: dag.fileloc,
  file: dag.file,
  tree: runTree(tree, dag),
  valuesRead: dag.reads.length > 0 ? JSON.stringify(dag.reads) : null,
});
