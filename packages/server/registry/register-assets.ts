/**
 * Writes the assets of a version, so that an event finds the DAGs that wait for it, and people see which DAG uses which
 * asset.
 */
import { createHash } from 'node:crypto';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TenantDb } from '../db/database.ts';
import {
  assetKey,
  findAssetConflicts,
  reconsiderQueue,
  replaceReferences,
  saveAliases,
  saveAssets,
} from '../db/assets/references.ts';
import type { AssetReference } from '../db/assets/references.ts';
import { replaceWatchers } from '../db/assets/watchers.ts';
import type { NewWatcher } from '../db/assets/watchers.ts';
import type { AssetRole } from '../db/schema.ts';
import { leavesOf } from '../engine/runs/asset-condition.ts';
import type { AssetLeaf } from '../engine/runs/asset-condition.ts';

const DEFAULT_GROUP = 'asset';

type Use = { role: AssetRole; taskId: string; leaf: AssetLeaf };

/** Needs the row of the DAG. Returns the conflicts of its assets, one sentence each. */
export async function registerAssets(
  trx: TenantDb,
  { dagId, versionNumber }: { dagId: string; versionNumber: number },
  spec: CompiledSpec,
): Promise<string[]> {
  const uses = usesOf(spec);
  const assetIds = await saveAssets(trx, assetsOf(spec, uses));
  const aliasIds = await saveAliases(trx, aliasesOf(spec, uses));
  await replaceReferences(
    trx,
    dagId,
    uses.map((use) => referenceTo(use, { assetIds, aliasIds })),
  );
  await replaceWatchers(trx, { dagId, versionNumber, watchers: watchersOf(spec) });
  if ('assets' in spec.schedule) await reconsiderQueue(trx, dagId);
  const conflicts = await findAssetConflicts(trx, dagId, [...assetIds.values()]);
  return conflicts.map(
    ({ name, uri, otherName, otherUri, otherDagId }) =>
      `the asset "${name}" (${uri}) is "${otherName}" (${otherUri}) in DAG ${otherDagId}: ` +
      'events of the one do not count for the other; use the same name and URI in both',
  );
}

/** Returns the triggers of watchers as the compiler records them: a class and its arguments by name. */
function watchersOf(spec: CompiledSpec): NewWatcher[] {
  return spec.assets.assets.flatMap(({ name: assetName, uri: assetUri, watchers }) =>
    watchers.flatMap(({ name, trigger }) => {
      const { class: classPath, kwargs = {} } = (trigger ?? {}) as { class?: unknown; kwargs?: unknown };
      if (typeof classPath !== 'string') return [];
      const text = JSON.stringify(kwargs);
      const hash = createHash('sha256').update(`${classPath}\0${text}`).digest('hex');
      return [{ assetName, assetUri, name, classPath, kwargs: text, hash }];
    }),
  );
}

function usesOf(spec: CompiledSpec): Use[] {
  const { schedule } = spec;
  const scheduled = 'assets' in schedule ? leavesOf(schedule.assets) : [];
  const ofTasks = spec.tasks.flatMap((task) =>
    (['outlet', 'inlet'] as const).flatMap((role) =>
      task[`${role}s`].flatMap((use) =>
        use.type === 'other' ? [] : leavesOf(use).map((leaf): Use => ({ role, taskId: task.task_id, leaf })),
      ),
    ),
  );
  return [...scheduled.map((leaf): Use => ({ role: 'schedule', taskId: '', leaf })), ...ofTasks];
}

/** Joins the section of assets with their uses, because a compiler may omit from the section what a use names. */
const assetsOf = (spec: CompiledSpec, uses: readonly Use[]) => [
  ...uses.flatMap(({ leaf }) =>
    leaf.type === 'asset'
      ? [{ name: leaf.name, uri: leaf.uri, group: leaf.group ?? DEFAULT_GROUP, extra: leaf.extra ?? {} }]
      : [],
  ),
  ...spec.assets.assets.map(({ name, uri, group, extra }) => ({ name, uri, group, extra })),
];

const aliasesOf = (spec: CompiledSpec, uses: readonly Use[]) => [
  ...uses.flatMap(({ leaf }) =>
    leaf.type === 'asset_alias' ? [{ name: leaf.name, group: leaf.group ?? DEFAULT_GROUP }] : [],
  ),
  ...spec.assets.aliases.map(({ name, group }) => ({ name, group })),
];

function referenceTo(
  { role, taskId, leaf }: Use,
  ids: { assetIds: ReadonlyMap<string, number>; aliasIds: ReadonlyMap<string, number> },
): AssetReference {
  const common = { role, task_id: taskId, target_id: 0, target_text: '' };
  switch (leaf.type) {
    case 'asset':
      return { ...common, target: 'asset', target_id: ids.assetIds.get(assetKey(leaf)) ?? 0 };
    case 'asset_alias':
      return { ...common, target: 'alias', target_id: ids.aliasIds.get(leaf.name) ?? 0 };
    case 'asset_name_ref':
      return { ...common, target: 'name', target_text: leaf.name };
    case 'asset_uri_ref':
      return { ...common, target: 'uri', target_text: leaf.uri };
  }
}
