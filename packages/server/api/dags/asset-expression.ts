/** The asset part of a schedule in Airflow's form: `{"all": [{"asset": {…}}, {"any": […]}]}`. */
import type { AssetCondition, TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { AssetIds } from '../../db/assets/assets.ts';

export const conditionOf = (timetable: TimetableSpec): AssetCondition | null =>
  'assets' in timetable ? timetable.assets : null;

/** Returns the assets that a condition names with name and URI. Only those have an id. */
export function assetsIn(condition: AssetCondition | null): { name: string; uri: string }[] {
  if (condition === null) return [];
  if ('objects' in condition) return condition.objects.flatMap(assetsIn);
  return condition.type === 'asset' ? [{ name: condition.name, uri: condition.uri }] : [];
}

export function assetExpression(condition: AssetCondition | null, ids: AssetIds): Record<string, unknown> | null {
  if (condition === null) return null;
  switch (condition.type) {
    case 'asset_all':
      return { all: condition.objects.map((object) => assetExpression(object, ids)) };
    case 'asset_any':
      return { any: condition.objects.map((object) => assetExpression(object, ids)) };
    case 'asset': {
      const { uri, name, group = 'asset' } = condition;
      return { asset: { uri, name, group, id: ids.get(condition) ?? null } };
    }
    case 'asset_alias':
      return { alias: { name: condition.name, group: condition.group ?? 'asset' } };
    case 'asset_name_ref':
      return { asset_ref: { name: condition.name } };
    case 'asset_uri_ref':
      return { asset_ref: { uri: condition.uri } };
  }
}
