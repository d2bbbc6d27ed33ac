/** run://detail and health://control-plane. */
import type { RunAnswer } from '../control-plane/answers.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { paths } from '../control-plane/paths.ts';
import type { RunRef } from '../control-plane/paths.ts';
import { sanitizeValue } from '../text/sanitize.ts';
import { safeTextOrNull } from '../text/untrusted.ts';

/** State, type and timing. Not `conf`: people pass credentials in it. */
export async function runDetail(controlPlane: ControlPlane, ref: RunRef): Promise<Record<string, unknown>> {
  const run = await controlPlane.json<RunAnswer>(paths.run(ref));
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
    controlPlane.json<Record<string, unknown>>(paths.health),
    controlPlane.json<Record<string, unknown>>(paths.executor),
    controlPlane.json<Record<string, unknown>>(paths.version),
  ]);
  return sanitizeValue({ server: controlPlane.server, components, executor, version }) as Record<string, unknown>;
}
