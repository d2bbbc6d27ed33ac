/** Converts the filters of a list of runs from requests to the form of the database layer. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { RangedColumn, RunFilter } from '../../db/dag-runs/filters.ts';
import type { RunColumn, RunOrder } from '../../db/dag-runs/dag-runs.ts';
import { CursorQuery } from '../../http/cursor.ts';
import { RUN_SORT_KEYS, RangeQuery, RunStateWord, RunTypeWord, runTypeOf } from './schemas.ts';
import type { DagRunsBatch } from './schemas.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { rangeOf } from '../../http/ranges.ts';
import { OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import { ALL } from '../paths.ts';

const ORDER_COLUMNS = Object.fromEntries(
  RUN_SORT_KEYS.map((key) => [key, key === 'dag_run_id' ? 'run_id' : key]),
) as Record<string, RunColumn>;

const NEWEST_FIRST: RunOrder = [
  { column: 'run_after', direction: 'desc' },
  { column: 'id', direction: 'desc' },
];

export const runOrder = (keys: readonly string[] | undefined): RunOrder =>
  parseOrderBy<RunColumn>(keys, ORDER_COLUMNS, NEWEST_FIRST);

export const RunListQuery = Type.Object({
  ...PagingQuery,
  ...CursorQuery,
  ...OrderByQuery(RUN_SORT_KEYS),
  state: Type.Optional(Type.Array(RunStateWord, { maxItems: 100 })),
  run_type: Type.Optional(Type.Array(RunTypeWord, { maxItems: 100 })),
  dag_version: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), {
      maxItems: 1_000,
      description: 'Version numbers',
    }),
  ),
  bundle_version: Type.Optional(Type.String()),
  conf_contains: Type.Optional(
    Type.String({ maxLength: 2_000, description: 'Part of the conf: text in any letter case, or a JSON object' }),
  ),
  ...RangeQuery,
  ...PatternQuery('run_id'),
  ...PatternQuery('dag_id'),
  ...PatternQuery('triggering_user_name'),
  ...PatternQuery('partition_key'),
  consuming_asset_pattern: PatternQuery('consuming_asset').consuming_asset_pattern,
});

export function filterOfQuery(dagId: string, query: Static<typeof RunListQuery>): RunFilter {
  return present({
    dagIds: dagId === ALL ? undefined : [dagId],
    states: query.state,
    runTypes: query.run_type?.flatMap((word) => runTypeOf(word) ?? []),
    versionNumbers: query.dag_version,
    bundleVersion: query.bundle_version,
    runIds: parsePatterns({ pattern: query.run_id_pattern, prefix: query.run_id_prefix_pattern }),
    dagIdPatterns: parsePatterns({ pattern: query.dag_id_pattern, prefix: query.dag_id_prefix_pattern }),
    triggeringUsers: parsePatterns({
      pattern: query.triggering_user_name_pattern,
      prefix: query.triggering_user_name_prefix_pattern,
    }),
    partitionKeys: parsePatterns({ pattern: query.partition_key_pattern, prefix: query.partition_key_prefix_pattern }),
    consumedAssets: parsePatterns({ pattern: query.consuming_asset_pattern }),
    confContains: query.conf_contains || undefined,
    ranges: rangesOf(query),
  });
}

export function filterOfBatch(dagId: string, body: Static<typeof DagRunsBatch>): RunFilter {
  const dagIds = body.dag_ids?.includes(ALL) ? undefined : (body.dag_ids ?? undefined);
  return present({
    dagIds: dagId === ALL ? dagIds : (dagIds ?? [dagId]).filter((id) => id === dagId),
    states: body.states ?? undefined,
    confContains: body.conf_contains || undefined,
    ranges: rangesOf(body),
  });
}

const RANGED: readonly RangedColumn[] = [
  'run_after',
  'logical_date',
  'partition_date',
  'start_date',
  'end_date',
  'updated_at',
  'duration',
];

const rangesOf = (asked: Parameters<typeof rangeOf<RangedColumn>>[0]): RunFilter['ranges'] =>
  Object.fromEntries(
    RANGED.flatMap((column) => {
      const range = rangeOf(asked, column);
      return range ? [[column, range] as const] : [];
    }),
  );

/** Removes undefined keys, because the database layer requires that absent filters have no key. */
const present = (asked: { [Key in keyof RunFilter]: RunFilter[Key] | undefined }): RunFilter =>
  Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as RunFilter;
