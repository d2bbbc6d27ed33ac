import type { AttemptIdentity } from '../agents/credentials.ts';
import type { TriggererJob } from '../engine/executor.ts';

/** A triggerer is started like an attempt. Its id is the id of its row. */
export const triggererIdentity = (job: TriggererJob): Omit<AttemptIdentity, 'issuedAt'> & { kind: 'triggerer' } => ({
  kind: 'triggerer',
  tenantId: job.tenantId,
  run: 0,
  dagId: job.dagId,
  taskId: '',
  mapIndex: -1,
  tryNumber: 0,
  versionNumber: job.versionNumber,
  attemptId: job.triggererId,
});
