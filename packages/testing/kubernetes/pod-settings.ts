/** What an operator has set of pods, where a test is about something else. */
import type { PodSettings } from '@svc/server/executors/kubernetes/pod-spec.ts';

export const POD_SETTINGS: PodSettings = {
  namespace: 'tasks',
  installation: 'abc',
  serviceAccount: '',
  caConfigMap: '',
  secret: { name: '', mountPath: '/etc/svc/secrets' },
  runAsNonRoot: true,
  readOnlyRootFilesystem: false,
  resources: { cpu: '', memory: '' },
  gpuResource: 'nvidia.com/gpu',
  terminationGraceSeconds: 30,
  task: { SVC_HTTP_USER_AGENT: 'svc/0.1', SVC_SECRETS_BACKEND: '', SVC_SECRETS_BACKEND_KWARGS: '' },
};
