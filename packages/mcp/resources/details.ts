/** The resources run://detail and health://control-plane. */
import type { ControlPlane } from '../control-plane/client.ts';
import { runIds } from '../control-plane/ids.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { sanitizeValue } from '@svc/spec/text/sanitize.ts';
import { safeTextOrNull } from '@svc/spec/text/safe-text.ts';

/** Returns state, type and timing. It omits `conf`, because people pass credentials in it. */
export async function runDetail(controlPlane: ControlPlane, ref: RunRef): Promise<Record<string, unknown>> {
  const run = await controlPlane.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path: runIds(ref) });
  return {
    dag_id: run.dag_id,
    run_id: run.dag_run_id,
    state: run.state,
    run_type: run.run_type,
    logical_date: run.logical_date,
    data_interval_start: run.data_interval_start,
    data_interval_end: run.data_interval_end,
    run_after: run.run_after,
    queued_at: run.queued_at,
    start_date: run.start_date,
    end_date: run.end_date,
    duration_seconds: run.duration,
    triggered_by: safeTextOrNull(run.triggered_by),
    triggering_user_name: safeTextOrNull(run.triggering_user_name),
    note: safeTextOrNull(run.note, 1_000),
    version_numbers: run.dag_versions.map((version) => version.version_number),
  };
}

export async function controlPlaneHealth(controlPlane: ControlPlane): Promise<Record<string, unknown>> {
  const [components, executor, version] = await Promise.all([
    controlPlane.get('/api/v2/monitor/health'),
    controlPlane.get('/api/v2/monitor/executor'),
    controlPlane.get('/api/v2/version'),
  ]);
  return sanitizeValue({ server: controlPlane.server, components, executor, version }) as Record<string, unknown>;
}
