import type { PodIdentity } from '@svc/server/executors/kubernetes/pod-names.ts';

/** Of some attempt. */
export const podIdentity = (more: Partial<PodIdentity> = {}): PodIdentity => ({
  kind: 'task',
  tenantId: '0197e0a1-0000-7000-8000-000000000001',
  dagId: 'd',
  run: 1,
  taskId: 'x',
  mapIndex: -1,
  tryNumber: 1,
  versionNumber: 1,
  attemptId: 'a',
  dispatch: 1,
  ...more,
});
