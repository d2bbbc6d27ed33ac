/** Brings the parts of the cluster up in their order. Runs in the cluster's own namespaces. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from '@svc/testing/eventually.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { NODE_ADDRESS, NODE_NAME, REGISTRY } from './addresses.ts';
import {
  DNS_READY,
  apiServer,
  containerd,
  controllerManager,
  dns,
  etcd,
  kubelet,
  proxy,
  registry,
  scheduler,
} from './components.ts';
import { makeIdentities } from './identities.ts';
import { report } from './report.ts';
import { createSupervisor } from './supervisor.ts';
import { provideVolumes } from './volumes.ts';

export type StartOptions = {
  readonly state: string;
  readonly cgroup: string;
  readonly programs: string;
  /** Contents of the registry. */
  readonly images: string;
};

/** Kept after the run, for whoever looks for the cause of a failure. */
const LOGS = join(ROOT, 'test-output', 'kubernetes');

/** Resolves to what programs need to know of the cluster, as environment variables. */
export async function startCluster({ state, cgroup, programs, images }: StartOptions): Promise<Record<string, string>> {
  const layout = { state, programs, cgroup, identities: makeIdentities(join(state, 'identities')) };
  const supervisor = createSupervisor({ state, logs: LOGS });
  for (const part of [etcd, apiServer, containerd]) supervisor.start(part(layout));
  cpSync(images, join(state, 'registry'), { recursive: true });
  supervisor.start(registry(layout));

  const kubeconfig = layout.identities.kubeconfig('admin');
  const kubectl = (...words: string[]): Promise<string> =>
    promisify(execFile)(join(programs, 'kubectl'), [`--kubeconfig=${kubeconfig}`, ...words]).then(
      ({ stdout }) => stdout,
    );
  const until = async (what: string, look: () => Promise<boolean>): Promise<void> => {
    try {
      await eventually(look, { everyMs: 150, withinMs: 120_000 });
    } catch (error) {
      throw new Error(`the cluster did not come up: ${what} is missing; its logs are in ${LOGS}`, { cause: error });
    }
    report(what);
  };

  await until('API server ready', async () => (await kubectl('get', '--raw', '/readyz')) === 'ok');
  for (const part of [controllerManager, scheduler, kubelet, proxy, dns]) supervisor.start(part(layout));
  await until('registry', async () => (await fetch(`http://${REGISTRY}/v2/`)).ok);
  const isReady = '{.status.conditions[?(@.type=="Ready")].status}';
  await until('node ready', async () => (await kubectl('get', 'node', NODE_NAME, `-o=jsonpath=${isReady}`)) === 'True');
  await until('DNS', async () => (await fetch(`http://${DNS_READY}/ready`)).ok);
  // Without it no pod can be made.
  await until('service account', async () => (await kubectl('get', 'serviceaccount', 'default')) !== '');
  await provideVolumes({ kubeconfig, folder: join(state, 'volumes') });
  return {
    KUBECONFIG: kubeconfig,
    PATH: `${programs}:${process.env['PATH']}`,
    SVC_TEST_REGISTRY: REGISTRY,
    SVC_TEST_HOST: NODE_ADDRESS,
    SVC_TEST_CLUSTER: state,
  };
}
