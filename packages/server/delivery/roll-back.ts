/**
 * Makes an older deployment of a bundle current again. Its DAGs get the content that they had, as versions of their own,
 * because the order of versions is the history of what ran. One transaction, one audit entry. The commit that is undone
 * stays known, so that the next poll does not deploy it again.
 */
import { runTree } from '@svc/proto/code-archive.ts';
import { findOwners } from '../db/bundles/bundle-names.ts';
import { lockBundle } from '../db/bundles/bundles.ts';
import {
  dagsOfBundle,
  findDeployment,
  findVersionContents,
  insertDeployment,
  lastDeploymentNumber,
  moveDags,
  previousDeployment,
  pruneDeployments,
  readsOfDags,
  replaceImportErrors,
} from '../db/bundles/deployments.ts';
import type { DeploymentRow } from '../db/bundles/deployments.ts';
import { markStale } from '../db/dags/dags.ts';
import type { TenantDb } from '../db/database.ts';
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Actor } from '../db/identity/audit-log.ts';
import type { DagChange, DeployedDag } from '../db/tables/bundles.ts';
import { prepareVersion } from '../registry/prepare-version.ts';
import { writeVersion } from '../registry/write-version.ts';
import { KEPT_DEPLOYMENTS } from './deploy-commit.ts';

export type RollbackOutcome =
  | { kind: 'done'; deployment: DeploymentRow }
  | { kind: 'no_bundle' }
  | { kind: 'no_deployment' }
  | { kind: 'refused'; reason: string };

export function rollBack(
  db: TenantDb,
  input: { bundleName: string; to: number | undefined; actor: Actor },
): Promise<RollbackOutcome> {
  return db.transaction().execute((trx) => write(trx, input));
}

async function write(
  trx: TenantDb,
  { bundleName, to, actor }: { bundleName: string; to: number | undefined; actor: Actor },
): Promise<RollbackOutcome> {
  const bundle = await lockBundle(trx, bundleName);
  if (!bundle) return { kind: 'no_bundle' };
  const current =
    bundle.current_deployment === null ? undefined : await findDeployment(trx, bundleName, bundle.current_deployment);
  if (!current) return { kind: 'refused', reason: 'nothing of it has been deployed yet' };
  const target = await targetOf(trx, { bundleName, current, to });
  if (!target && to !== undefined) return { kind: 'no_deployment' };
  if (!target) return { kind: 'refused', reason: 'there is no deployment before the current one' };
  if (target.number === current.number || (current.kind === 'rollback' && current.repeats === target.number))
    return { kind: 'refused', reason: `deployment ${target.number} is current already` };

  const before = new Map((await dagsOfBundle(trx, bundleName)).map((dag) => [dag.dag_id, dag]));
  const wanted = Object.entries(target.dags).sort(([a], [b]) => (a < b ? -1 : 1));
  const owners = await findOwners(trx, wanted.map(([dagId]) => dagId)); // prettier-ignore
  const taken = [...owners].find(([, owner]) => owner.bundleName !== bundleName);
  if (taken)
    return { kind: 'refused', reason: `the DAG id "${taken[0]}" belongs to the bundle "${taken[1].bundleName}" now` };

  const asked = wanted.filter(([dagId, dag]) => before.get(dagId)?.version_number !== dag.version);
  const contents = new Map(
    (
      await findVersionContents(
        trx,
        asked.map(([dagId, { version }]) => ({ dagId, version })),
      )
    ) // prettier-ignore
      .map((content) => [content.dag_id, content]),
  );
  const dags: Record<string, DeployedDag> = {};
  const changes: Record<string, DagChange> = {};
  const unchanged: [string, DeployedDag][] = wanted.filter((dag) => !asked.includes(dag));
  for (const [dagId, dag] of asked) {
    const content = contents.get(dagId);
    if (!content) return { kind: 'refused', reason: `version ${dag.version} of the DAG ${dagId} has been deleted` };
    const had = before.get(dagId);
    if (had?.content_hash === content.content_hash) {
      unchanged.push([dagId, { ...dag, version: had.version_number }]);
      continue;
    }
    const prepared = await prepareVersion(
      dagId,
      {
        spec: JSON.parse(content.spec) as object,
        fileloc: `${target.root}/${dag.file}`,
        bundle_name: bundleName,
        bundle_version: target.version,
        ...(target.url !== null && { bundle_url: target.url }),
        ...(content.image !== null && { image: content.image }),
        ...(content.values_read && { values_read: content.values_read }),
        warnings: dag.warnings ?? [],
        differences: dag.differences ?? [],
      },
      {},
    );
    if ('problems' in prepared) return { kind: 'refused', reason: `DAG ${dagId}: ${prepared.problems.join('; ')}` };
    const { version } = await writeVersion(
      trx,
      { ...prepared.prepared, file: dag.file, tree: treeOf(target, dag) },
      {},
    );
    const after = version.version_number;
    dags[dagId] = { ...dag, version: after };
    changes[dagId] = { change: had ? 'changed' : 'added', before: had?.version_number ?? null, after };
  }
  for (const [dagId, dag] of unchanged) dags[dagId] = dag;
  const reads = await readsOfDags(trx, unchanged.map(([dagId]) => dagId)); // prettier-ignore
  const moved = unchanged.map(([dagId, { file, source }]) => ({
    dagId,
    file,
    tree: treeOf(target, { file, source }),
    fileloc: `${target.root}/${file}`,
    valuesRead: reads.get(dagId) ?? null,
  }));
  await moveDags(trx, target.version, moved);
  const removed = [...before.values()].filter(({ dag_id: id }) => dags[id] === undefined);
  for (const { dag_id: id, version_number: number } of removed)
    changes[id] = { change: 'removed', before: number, after: null };
  if (removed.length > 0) await markStale(trx, removed.map(({ dag_id: id }) => id)); // prettier-ignore
  await replaceImportErrors(trx, bundleName, []);

  const number = (await lastDeploymentNumber(trx, bundleName)) + 1;
  await insertDeployment(trx, {
    bundle_name: bundleName,
    number,
    kind: 'rollback',
    repeats: target.kind === 'rollback' ? (target.repeats ?? target.number) : target.number,
    version: target.version,
    author: target.author,
    message: target.message,
    committed_at: target.committed_at,
    url: target.url,
    root: target.root,
    tree: target.tree,
    dags: JSON.stringify(dags),
    changes: JSON.stringify(changes),
    changed: Object.keys(changes).length,
    problems: null,
    created_by: actor.name,
  });
  await pruneDeployments(trx, bundleName, KEPT_DEPLOYMENTS);
  await recordAudit(trx, actor, {
    event: 'post_rollback',
    objectKind: 'bundle',
    objectId: bundleName,
    detail: { number, from: current.number, to: target.number, changed: Object.keys(changes).length },
  });
  const deployment = await findDeployment(trx, bundleName, number);
  if (!deployment) throw new Error('unreachable: the deployment was just written');
  return { kind: 'done', deployment };
}

const treeOf = ({ tree }: DeploymentRow, dag: Pick<DeployedDag, 'file' | 'source'>): string | null =>
  tree === null ? null : runTree(tree, dag);

/** Without a number: the deployment before the one whose content is current. */
async function targetOf(
  trx: TenantDb,
  { bundleName, current, to }: { bundleName: string; current: DeploymentRow; to: number | undefined },
): Promise<DeploymentRow | undefined> {
  if (to !== undefined) return findDeployment(trx, bundleName, to);
  const shown = current.repeats ?? current.number;
  // A rollback of one DAG has the commit of the deployment that it repeats.
  const repeated = shown === current.number ? current : await findDeployment(trx, bundleName, shown);
  return previousDeployment(trx, bundleName, repeated?.repeats ?? shown);
}
