/** Evaluates what a DAG's schedule says about assets: its leaves, and whether it holds. Pure. */
import type { AssetCondition } from '@svc/spec/timetables/schema.ts';

export type AssetLeaf = Exclude<AssetCondition, { type: 'asset_all' | 'asset_any' }>;

/** An asset with waiting events, and the aliases to which tasks have attached it. */
export type PresentAsset = { name: string; uri: string; aliases: readonly string[] };

export function leavesOf(condition: AssetCondition): AssetLeaf[] {
  return condition.type === 'asset_all' || condition.type === 'asset_any'
    ? condition.objects.flatMap(leavesOf)
    : [condition];
}

/** True when the leaf names this asset, directly or through an alias. */
export function refersTo(leaf: AssetLeaf, asset: PresentAsset): boolean {
  switch (leaf.type) {
    case 'asset':
      return leaf.name === asset.name && leaf.uri === asset.uri;
    case 'asset_alias':
      return asset.aliases.includes(leaf.name);
    case 'asset_name_ref':
      return leaf.name === asset.name;
    case 'asset_uri_ref':
      return leaf.uri === asset.uri;
  }
}

/** An alias without an asset never holds, because no event has happened. */
export function holds(condition: AssetCondition, present: readonly PresentAsset[]): boolean {
  switch (condition.type) {
    case 'asset_all':
      return condition.objects.every((part) => holds(part, present));
    case 'asset_any':
      return condition.objects.some((part) => holds(part, present));
    case 'asset':
    case 'asset_alias':
    case 'asset_name_ref':
    case 'asset_uri_ref':
      return present.some((asset) => refersTo(condition, asset));
  }
}
