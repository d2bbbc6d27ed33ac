import { instantToIso } from './instant.ts';
import type { Instant } from './instant.ts';

export type RunIdPrefix = 'manual' | 'scheduled' | 'backfill' | 'asset_triggered' | 'asset_materialization';

/** The id Airflow gives a run when nobody chose one: `scheduled__2026-01-02T10:00:00+00:00`, from the moment it may start. */
export const runIdFor = ({
  runType,
  runAfter,
  partitionKey,
}: {
  runType: RunIdPrefix;
  runAfter: Instant;
  /** Of a run without a date: its key is part of the id, and so is chance, since nothing else keeps two runs of it apart. */
  partitionKey?: string | undefined;
}): string => {
  const plain = `${runType}__${instantToIso(runAfter)}`;
  if (partitionKey === undefined) return plain;
  const chance = crypto.randomUUID().replaceAll('-', '').slice(0, 8);
  return `${plain}__${partitionKey.replaceAll(/[^A-Za-z0-9_.~:+-]/g, '_').slice(0, 150)}__${chance}`;
};
