/**
 * Gives one DAG the content of an older version again, as a new version. One transaction, one audit entry. Of a
 * bundle, this is a deployment in which only this DAG differs. It remembers the content that was undone, so that a later
 * commit which still has it does not bring it back.
 */
import { runTree } from '@svc/proto/code-archive.ts';
import { lockBundle } from '../db/bundles/bundles.ts';
import {
  dagsOfBundle,
  deploymentOfVersion,
  findDeployment,
  findVersionContents,
  insertDeployment,
  lastDeploymentNumber,
  pruneDeployments,
  versionBefore,
} from '../db/bundles/deployments.ts';
import type { DeploymentRow } from '../db/bundles/deployments.ts';
import { findDag, lockDag } from '../db/dags/dags.ts';
import type { DagRow } from '../db/dags/dags.ts';
import type { TenantDb } from '../db/database.ts';
import { IMPORTED_VERSION } from '../db/imports/imported-version.ts';
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Actor } from '../db/identity/audit-log.ts';
import type { DagChange, DeployedDag } from '../db/tables/bundles.ts';
import { prepareVersion } from '../registry/prepare-version.ts';
import { writeVersion } from '../registry/write-version.ts';
import { KEPT_DEPLOYMENTS } from './deploy-commit.ts';

export type DagRollbackOutcome =
  | {
      kind: 'done';
      version: number;
      repeats: number;
      from: number;
      bundleName: string | null;
      deployment: number | null;
    }
  | { kind: 'no_dag' }
  | { kind: 'no_version' }
  | { kind: 'refused'; reason: string };

type Input = { dagId: string; to: number | undefined; actor: Actor };

/** A DAG that was undone more often than this forgets the oldest content. */
const MOST_UNDONE = 20;

export const rollBackDag = (db: TenantDb, input: Input): Promise<DagRollbackOutcome> =>
  db.transaction().execute((trx) => write(trx, input));

const refused = (reason: string): DagRollbackOutcome => ({ kind: 'refused', reason });

async function write(trx: TenantDb, { dagId, to, actor }: Input): Promise<DagRollbackOutcome> {
  const found = await findDag(trx, dagId);
  if (!found) return { kind: 'no_dag' };
  // Deployments lock the bundle before its DAGs, too.
  const bundle = await lockBundle(trx, found.bundle_name);
  await lockDag(trx, dagId);
  const dag = await findDag(trx, dagId);
  if (!dag || dag.bundle_name !== found.bundle_name)
    return refused('it was moved to another bundle just now: try again');
  if (dag.is_stale) return refused('it is stale: roll back its bundle, or deploy it again');
  const from = dag.current_version;
  if (from === IMPORTED_VERSION) return refused('it was imported and has no code');
  const target = to ?? (await versionBefore(trx, dagId, from));
  if (target === undefined) return refused('there is no version before the current content');
  const contents = await findVersionContents(trx, [
    { dagId, version: target },
    { dagId, version: from },
  ]);
  const content = contents.find(({ version_number: number }) => number === target);
  const current = contents.find(({ version_number: number }) => number === from);
  if (!content || !current) return { kind: 'no_version' };
  if (content.content_hash === current.content_hash) return refused(`version ${from} has this content already`);

  const last =
    bundle === undefined || bundle.current_deployment === null
      ? undefined
      : await findDeployment(trx, bundle.name, bundle.current_deployment);
  const lastDag = last?.dags[dagId];
  if (bundle && !lastDag) return refused('it is in no deployment of its bundle: sync the bundle first');
  const origin = bundle && (await deploymentOfVersion(trx, { bundleName: bundle.name, dagId, version: target }));
  const place = origin?.dags[dagId] ?? lastDag;
  const prepared = await prepareVersion(
    dagId,
    {
      spec: JSON.parse(content.spec) as object,
      ...placeOf(dag, { origin, place }),
      bundle_name: dag.bundle_name,
      ...(content.bundle_version !== null && { bundle_version: content.bundle_version }),
      ...(content.bundle_url !== null && { bundle_url: content.bundle_url }),
      ...(content.image !== null && { image: content.image }),
      ...(content.values_read && { values_read: content.values_read }),
      warnings: place?.warnings ?? [],
      differences: place?.differences ?? [],
    },
    {},
  );
  if ('problems' in prepared) return refused(prepared.problems.join('; '));
  const file = place?.file ?? dag.relative_fileloc;
  const tree = place && origin?.tree ? runTree(origin.tree, place) : null;
  const written = await writeVersion(trx, { ...prepared.prepared, tree, ...(file !== null && { file }) }, {});
  const version = written.version.version_number;
  const deployment =
    last && lastDag && place
      ? await deploy(trx, last, {
          dagId,
          deployed: {
            ...place,
            version,
            undone: [current.content_hash, ...(lastDag.undone ?? [])].slice(0, MOST_UNDONE),
          },
          change: { change: 'changed', before: from, after: version },
          actor,
        })
      : null;
  await recordAudit(trx, actor, {
    event: 'post_dag_rollback',
    objectKind: 'dag',
    objectId: dagId,
    detail: { from, to: target, version, ...(deployment !== null && { deployment }) },
  });
  return { kind: 'done', version, repeats: target, from, bundleName: bundle?.name ?? null, deployment };
}

/** The files of the deployment that had the version, because its tasks import from there. */
function placeOf(
  dag: DagRow,
  { origin, place }: { origin: DeploymentRow | undefined; place: DeployedDag | undefined },
): { fileloc: string } {
  return { fileloc: origin && place ? `${origin.root}/${place.file}` : dag.fileloc };
}

async function deploy(
  trx: TenantDb,
  last: DeploymentRow,
  input: { dagId: string; deployed: DeployedDag; change: DagChange; actor: Actor },
): Promise<number> {
  const { dagId, deployed, change, actor } = input;
  const { bundle_name: bundleName } = last;
  // A DAG that was not deployed since, as with a broken file, has the version of its row.
  const now = new Map((await dagsOfBundle(trx, bundleName)).map((dag) => [dag.dag_id, dag.version_number]));
  const others = Object.entries(last.dags).map(([id, dag]) => [id, { ...dag, version: now.get(id) ?? dag.version }]);
  const number = (await lastDeploymentNumber(trx, bundleName)) + 1;
  await insertDeployment(trx, {
    bundle_name: bundleName,
    number,
    kind: 'dag_rollback',
    repeats: last.repeats ?? last.number,
    version: last.version,
    author: last.author,
    message: last.message,
    committed_at: last.committed_at,
    url: last.url,
    root: last.root,
    tree: last.tree,
    dags: JSON.stringify({ ...Object.fromEntries(others), [dagId]: deployed }),
    changes: JSON.stringify({ [dagId]: change }),
    changed: 1,
    problems: null,
    created_by: actor.name,
  });
  await pruneDeployments(trx, bundleName, KEPT_DEPLOYMENTS);
  return number;
}
