import type { AttemptIdentity } from '../agents/credentials.ts';
import type { CallbackJob } from '../engine/executor.ts';

/** For a question about a timetable, which belongs to no run. */
const NO_RUN = 0;

/** A callback runs like an attempt. Its id is the id of the request. */
export function callbackIdentity(callback: CallbackJob): Omit<AttemptIdentity, 'issuedAt'> & { kind: 'callback' } {
  return {
    kind: 'callback',
    tenantId: callback.tenant_id,
    run: callback.run ?? NO_RUN,
    dagId: callback.dag_id,
    taskId: callback.task_id ?? '',
    mapIndex: callback.map_index ?? -1,
    tryNumber: callback.try_number ?? 0,
    versionNumber: callback.versionNumber,
    attemptId: callback.id,
  };
}
