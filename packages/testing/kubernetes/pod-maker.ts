/** An account that may make pods in a namespace, and the connection by which tasks act as it: task pods have no token themselves. */
import { readFileSync } from 'node:fs';
import { core, kubeConfig, rbac } from './cluster.ts';

const NAME = 'pod-maker';
/** As pods know it. */
const SERVER = 'https://kubernetes.default.svc';

/** What `kube_config` of a connection of the type `kubernetes` is. */
export async function createPodMaker(namespace: string): Promise<object> {
  const metadata = { name: NAME, namespace };
  await core.createNamespacedServiceAccount({ namespace, body: { metadata } });
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'get', 'list', 'patch', 'watch'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    { apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] },
    { apiGroups: [''], resources: ['events'], verbs: ['get', 'list', 'watch'] },
  ];
  await rbac.createNamespacedRole({ namespace, body: { metadata, rules } });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME };
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace }];
  await rbac.createNamespacedRoleBinding({ namespace, body: { metadata, roleRef, subjects } });
  const spec = { audiences: [], expirationSeconds: 7_200 };
  const { status } = await core.createNamespacedServiceAccountToken({ name: NAME, namespace, body: { spec } });
  const cluster = kubeConfig.getCurrentCluster();
  const authority = cluster?.caData ?? readFileSync(cluster?.caFile ?? '').toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace } }],
    clusters: [{ name: NAME, cluster: { server: SERVER, 'certificate-authority-data': authority } }],
    users: [{ name: NAME, user: { token: status?.token } }],
  };
}
