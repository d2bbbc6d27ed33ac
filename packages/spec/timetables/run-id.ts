import { instantToIso } from './instant.ts';
import type { Instant } from './instant.ts';

export type RunIdPrefix = 'manual' | 'scheduled' | 'backfill' | 'asset_triggered' | 'asset_materialization';

/**
 * Returns Airflow's id of a run whose caller chose none: `scheduled__2026-01-02T10:00:00+00:00`, from the earliest
 * moment of its start.
 */
export const runIdFor = ({
  runType,
  runAfter,
  partitionKey,
}: {
  runType: RunIdPrefix;
  runAfter: Instant;
  /**
   * The key of a run without a date. The key and a random part are in the id, because nothing else distinguishes two
   * such runs.
   */
  partitionKey?: string | undefined;
}): string => {
  const plain = `${runType}__${instantToIso(runAfter)}`;
  if (partitionKey === undefined) return plain;
  const chance = crypto.randomUUID().replaceAll('-', '').slice(0, 8);
  return `${plain}__${partitionKey.replaceAll(/[^A-Za-z0-9_.~:+-]/g, '_').slice(0, 150)}__${chance}`;
};
