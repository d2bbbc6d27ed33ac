import { instantToIso } from './instant.ts';
import type { Instant } from './instant.ts';

export type RunIdPrefix = 'manual' | 'scheduled' | 'backfill' | 'asset_triggered' | 'asset_materialization';

/** The id Airflow gives a run when nobody chose one: `scheduled__2026-01-02T10:00:00+00:00`, from the moment it may start. */
export const runIdFor = ({ runType, runAfter }: { runType: RunIdPrefix; runAfter: Instant }): string =>
  `${runType}__${instantToIso(runAfter)}`;
