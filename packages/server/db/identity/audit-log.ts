/** Writes the audit log. */
import type { TenantDb } from '../database.ts';

/** The person or program that did something, from the request. Written with the change in one transaction. */
export type Actor = { name: string; clientIp: string; requestId: string };

export type AuditEntry = {
  /** Airflow's name for the operation: `post_connection`, `patch_dag`, … */
  event: string;
  objectKind: string;
  objectId: string;
  /** Set for everything that belongs to a DAG, so that its page can show its own log. */
  dagId?: string;
  runId?: string;
  taskId?: string;
  mapIndex?: number;
  /** Names of what changed, never the values, so that no secret reaches the log. */
  detail?: Record<string, unknown>;
};

export async function recordAudit(db: TenantDb, actor: Actor, entry: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({
      event: entry.event,
      actor: actor.name,
      client_ip: actor.clientIp,
      request_id: actor.requestId,
      object_kind: entry.objectKind,
      object_id: entry.objectId,
      dag_id: entry.dagId ?? null,
      run_id: entry.runId ?? null,
      task_id: entry.taskId ?? null,
      map_index: entry.mapIndex ?? null,
      detail: JSON.stringify(entry.detail ?? {}),
    })
    .execute();
}
