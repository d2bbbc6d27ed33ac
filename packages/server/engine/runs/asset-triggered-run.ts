/** The run that asset events cause. */
import { nowIso } from '@svc/spec/clock.ts';
import { instantFromIso } from '@svc/spec/timetables/instant.ts';
import { runIdFor } from '@svc/spec/timetables/run-id.ts';

export function assetTriggeredRun(dagId: string) {
  const runAfter = nowIso();
  const at = instantFromIso(runAfter);
  if (at === null) throw new Error('unreachable: now is a moment');
  // As in Airflow, such a run has no logical date. A random suffix separates two runs of one microsecond.
  const suffix = crypto.randomUUID().replaceAll('-', '').slice(0, 8);
  return {
    dagId,
    runId: `${runIdFor({ runType: 'asset_triggered', runAfter: at })}_${suffix}`,
    runType: 'asset_triggered' as const,
    logicalDate: null,
    dataInterval: null,
    runAfter,
    triggeredBy: 'asset',
  };
}
