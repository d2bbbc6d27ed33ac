/** The run that events of assets cause. */
import { nowIso } from '@svc/spec/clock.ts';
import { instantFromIso } from '@svc/spec/timetables/instant.ts';
import { runIdFor } from '@svc/spec/timetables/run-id.ts';

export function assetTriggeredRun(dagId: string) {
  const runAfter = nowIso();
  const at = instantFromIso(runAfter);
  if (at === null) throw new Error('unreachable: now is a moment');
  // As Airflow: such a run stands for no date, so that nothing but chance keeps two of one microsecond apart.
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
