/** How each part of the cluster is started, and the files it reads. Pure, but for those files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIRST_POD_ADDRESS, NODE_ADDRESS, NODE_NAME, POD_SUBNET, REGISTRY, SERVICE_SUBNET } from './addresses.ts';
import type { Identities, User } from './identities.ts';

export type Component = {
  readonly name: string;
  readonly command: readonly string[];
};

export type Layout = {
  readonly state: string;
  readonly programs: string;
  readonly cgroup: string;
  readonly identities: Identities;
};

const ETCD = 'http://127.0.0.1:2379';
/** Pulled from the registry like any other image. */
export const PAUSE_IMAGE = 'pause:1';

/** Where DNS says whether it knows the cluster. */
export const DNS_READY = '127.0.0.1:8181';

const socketOf = (state: string): string => join(state, 'containerd.sock');

export function registry({ state }: Layout): Component {
  const config = writeConfig(state, 'registry.json', {
    version: '0.1',
    log: { level: 'warn' },
    // Tests push the same tag again, and ask for what they pushed by its digest.
    storage: { filesystem: { rootdirectory: join(state, 'registry') }, delete: { enabled: true } },
    http: { addr: REGISTRY },
  });
  return { name: 'registry', command: ['docker-registry', 'serve', config] };
}

export function containerd({ state }: Layout): Component {
  const cni = join(state, 'cni');
  writeConfig(cni, '10-bridge.conflist', {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'kube0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: join(state, 'pod-addresses'),
          ranges: [[{ subnet: POD_SUBNET, rangeStart: FIRST_POD_ADDRESS }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  });
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const config = join(state, 'containerd.toml');
  writeFileSync(
    config,
    `version = 2
root = "${join(state, 'containerd')}"
state = "/run/containerd"
[grpc]
  address = "${socketOf(state)}"
[${cri}]
  sandbox_image = "${REGISTRY}/${PAUSE_IMAGE}"
  # Without CAP_SYS_RESOURCE no process may be spared more than we are.
  restrict_oom_score_adj = true
  [${cri}.cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${cni}"
  [${cri}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [${cri}.registry.mirrors."${REGISTRY}"]
    endpoint = ["http://${REGISTRY}"]
`,
  );
  return { name: 'containerd', command: ['containerd', '--config', config] };
}

export function etcd({ state, programs }: Layout): Component {
  const peer = 'http://127.0.0.1:2380';
  const flags = {
    name: 'one',
    'data-dir': join(state, 'etcd'),
    'listen-client-urls': ETCD,
    'advertise-client-urls': ETCD,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `one=${peer}`,
    'log-level': 'warn',
    // Tests kill processes, not the machine: the page cache survives.
    'unsafe-no-fsync': 'true',
  };
  return component(programs, 'etcd', flags);
}

export function apiServer({ programs, identities }: Layout): Component {
  return component(programs, 'kube-apiserver', {
    'etcd-servers': ETCD,
    'bind-address': NODE_ADDRESS,
    'advertise-address': NODE_ADDRESS,
    'service-cluster-ip-range': SERVICE_SUBNET,
    'tls-cert-file': identities.certificate,
    'tls-private-key-file': identities.certificateKey,
    'token-auth-file': identities.tokens,
    'kubelet-client-certificate': identities.certificate,
    'kubelet-client-key': identities.certificateKey,
    'kubelet-certificate-authority': identities.certificate,
    'kubelet-preferred-address-types': 'InternalIP',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': identities.signingKey,
    'service-account-signing-key-file': identities.signingKey,
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'allow-privileged': 'true',
    profiling: 'false',
  });
}

export function controllerManager({ programs, identities }: Layout): Component {
  return component(programs, 'kube-controller-manager', {
    ...asUser(identities, 'kube-controller-manager'),
    'use-service-account-credentials': 'true',
    'root-ca-file': identities.certificate,
    'service-account-private-key-file': identities.signingKey,
    // Fifteen seconds otherwise, for every claim of every test.
    'pvclaimbinder-sync-period': '1s',
  });
}

export function scheduler({ programs, identities }: Layout): Component {
  return component(programs, 'kube-scheduler', {
    ...asUser(identities, 'kube-scheduler'),
    // A pod whose volume was bound at the wrong moment waits for this look, five minutes by default.
    'pod-max-in-unschedulable-pods-duration': '10s',
  });
}

/** Names of services and pods. It knows nobody to ask for any other. */
export function dns({ state, programs, identities }: Layout): Component {
  const config = join(state, 'Corefile');
  const zone = `kubernetes cluster.local {\n    kubeconfig ${identities.kubeconfig('admin')}\n  }`;
  writeFileSync(config, `.:53 {\n  errors\n  ready ${DNS_READY}\n  ${zone}\n}\n`);
  return { name: 'coredns', command: [join(programs, 'coredns'), '-conf', config] };
}

/** Makes Services' addresses work, with rules in the cluster's own network. */
export function proxy({ programs, identities }: Layout): Component {
  return component(programs, 'kube-proxy', {
    kubeconfig: identities.kubeconfig('kube-proxy'),
    'proxy-mode': 'iptables',
    'hostname-override': NODE_NAME,
    'cluster-cidr': POD_SUBNET,
    // Limits of the whole machine, which are not ours to set.
    'conntrack-max-per-core': '0',
    'iptables-localhost-nodeports': 'false',
    'nodeport-addresses': 'primary',
  });
}

export function kubelet({ state, programs, cgroup, identities }: Layout): Component {
  const config = writeConfig(state, 'kubelet.json', {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: NODE_ADDRESS,
    readOnlyPort: 0,
    tlsCertFile: identities.certificate,
    tlsPrivateKeyFile: identities.certificateKey,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: identities.certificate },
    },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: `unix://${socketOf(state)}`,
    cgroupDriver: 'cgroupfs',
    // Pods of another cluster on this machine are not orphans of this one.
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    // What needs CAP_SYS_RESOURCE stays as it is.
    oomScoreAdj: 0,
    maxOpenFiles: 10_000,
    maxPods: 220,
    serializeImagePulls: false,
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    clusterDomain: 'cluster.local',
    clusterDNS: [NODE_ADDRESS],
    resolvConf: '',
  });
  return component(programs, 'kubelet', {
    config,
    kubeconfig: identities.kubeconfig('kubelet'),
    'hostname-override': NODE_NAME,
    'node-ip': NODE_ADDRESS,
    'root-dir': join(state, 'kubelet'),
    'cert-dir': join(state, 'kubelet', 'pki'),
  });
}

const asUser = (identities: Identities, user: User): Record<string, string> => ({
  kubeconfig: identities.kubeconfig(user),
  'authentication-kubeconfig': identities.kubeconfig(user),
  'authorization-kubeconfig': identities.kubeconfig(user),
  'bind-address': '127.0.0.1',
  'leader-elect': 'false',
  profiling: 'false',
});

const component = (programs: string, name: string, flags: Readonly<Record<string, string>>): Component => ({
  name,
  command: [join(programs, name), ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)],
});

function writeConfig(folder: string, name: string, value: object): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(value, null, 2));
  return path;
}
