/** The account under which a control plane executes, with the rights that the chart grants it and no other. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { core, kubeConfig, rbac } from './cluster.ts';

export type ExecutorAccount = AsyncDisposable & {
  /** A file for KUBECONFIG. */
  readonly kubeconfig: string;
  /** While it is away nobody's token is reviewed. */
  setTokenReviews(isAllowed: boolean): Promise<void>;
};

const NAME = 'executor';
const GROUP = 'rbac.authorization.k8s.io';

export async function createExecutorAccount(namespace: string): Promise<ExecutorAccount> {
  const metadata = { name: NAME, namespace };
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace }];
  const reviewer = `test-reviewer-${randomBytes(4).toString('hex')}`;
  await core.createNamespacedServiceAccount({ namespace, body: { metadata } });
  const all = ['create', 'delete', 'get', 'list', 'watch'];
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: all },
    { apiGroups: [''], resources: ['events'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: [...all, 'patch'] },
  ];
  await rbac.createNamespacedRole({ namespace, body: { metadata, rules } });
  const roleRef = { apiGroup: GROUP, kind: 'Role', name: NAME };
  await rbac.createNamespacedRoleBinding({ namespace, body: { metadata, roleRef, subjects } });
  const review = { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] };
  await rbac.createClusterRole({ body: { metadata: { name: reviewer }, rules: [review] } });
  const bind = { metadata: { name: reviewer }, roleRef: { ...roleRef, kind: 'ClusterRole', name: reviewer }, subjects };
  await rbac.createClusterRoleBinding({ body: bind });

  const spec = { audiences: [], expirationSeconds: 7_200 };
  const { status } = await core.createNamespacedServiceAccountToken({ name: NAME, namespace, body: { spec } });
  const folder = mkdtempSync(join(tmpdir(), 'svc-executor-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf(status?.token ?? ''));
  return {
    kubeconfig,
    async setTokenReviews(isAllowed) {
      if (isAllowed) await rbac.createClusterRoleBinding({ body: bind });
      else await rbac.deleteClusterRoleBinding({ name: reviewer });
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
      await rbac.deleteClusterRoleBinding({ name: reviewer }).catch(() => {});
      await rbac.deleteClusterRole({ name: reviewer });
    },
  };
}

/** JSON is YAML. */
function kubeconfigOf(token: string): string {
  const cluster = kubeConfig.getCurrentCluster();
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    clusters: [
      {
        name: NAME,
        cluster: {
          server: cluster?.server,
          ...(cluster?.caFile && { 'certificate-authority': cluster.caFile }),
          ...(cluster?.caData && { 'certificate-authority-data': cluster.caData }),
        },
      },
    ],
    users: [{ name: NAME, user: { token } }],
  });
}
