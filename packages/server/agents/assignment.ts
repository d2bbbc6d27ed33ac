import type { Assignment } from '@svc/proto/agent-service.ts';
import type { AttemptIdentity } from './credentials.ts';
import { versionKey } from '../engine/shared/dag-graphs.ts';

/** What a worker learns about an attempt before its start. */
export const assignmentOf = (identity: Omit<AttemptIdentity, 'issuedAt'>, token: string): Assignment => ({
  attempt_id: identity.attemptId,
  token,
  version_key: versionKey(identity),
  dag_id: identity.dagId,
  task_id: identity.taskId,
  map_index: identity.mapIndex,
  try_number: identity.tryNumber,
});
