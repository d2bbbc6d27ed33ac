import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '@svc/cli/version.ts';
import { eventually } from '../eventually.ts';
import { CLUSTER_STATE, HOST_ADDRESS, core } from './cluster.ts';
import { componentPid, holdComponent, killComponent } from './components.ts';
import { BASE_IMAGE, CONTROL_PLANE_IMAGE, makeImageTools } from './images.ts';
import { createTestNamespace } from './namespace.ts';
import type { TestNamespace } from './namespace.ts';
import { createPod, untilEnded } from './pods.ts';

let namespace: TestNamespace;
beforeAll(async () => void (namespace = await createTestNamespace('cluster')));
afterAll(() => namespace[Symbol.asyncDispose]());

async function run(name: string, container: Parameters<typeof createPod>[0]['container']) {
  const pod = { namespace: namespace.name, name };
  await createPod({ ...pod, container });
  return untilEnded(pod);
}

describe('the cluster', () => {
  it('has a node that is ready', async () => {
    const { items } = await core.listNode();
    const conditions = items.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status);
    expect(conditions).toContain('True');
  });

  it('runs the agent of the task image as a user without rights', async () => {
    const { exitCode, log, pod } = await run('agent', {
      image: BASE_IMAGE,
      args: ['--version'],
      securityContext: {
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      },
    });
    expect({ exitCode, log: log.trim() }, JSON.stringify(pod.status)).toEqual({ exitCode: 0, log: VERSION });
  });

  it('runs the control plane image', async () => {
    const { exitCode, log } = await run('control-plane', { image: CONTROL_PLANE_IMAGE, args: ['--version'] });
    expect({ exitCode, log: log.trim() }).toEqual({ exitCode: 0, log: VERSION });
  });

  it('gives back the exit code of a task', async () => {
    const { exitCode } = await run('fails', { image: BASE_IMAGE, command: ['python', '-c', 'raise SystemExit(7)'] });
    expect(exitCode).toBe(7);
  });

  it('pulls by its digest what was pushed', async () => {
    using tools = makeImageTools();
    const image = tools.pushImage('pushed:1', `FROM ${BASE_IMAGE}\nLABEL test=pushed\nENV PUSHED=yes\n`);
    expect(image).toMatch(/\/pushed@sha256:[0-9a-f]{64}$/);
    const { log, pod } = await run('pushed', {
      image,
      command: ['python', '-c', 'import os; print(os.environ["PUSHED"])'],
    });
    expect(log).toBe('yes\n');
    expect(pod.status?.containerStatuses?.[0]?.imageID).toBe(image);
  });

  it('lets pods reach what a test listens on', async () => {
    const server = createServer((_request, response) => response.end('from the test'));
    await new Promise<void>((resolve) => server.listen(0, HOST_ADDRESS, resolve));
    const url = `http://${HOST_ADDRESS}:${(server.address() as AddressInfo).port}/`;
    const program = `import urllib.request; print(urllib.request.urlopen("${url}").read().decode())`;
    const { log } = await run('reaches-host', { image: BASE_IMAGE, command: ['python', '-c', program] });
    server.close();
    expect(log).toBe('from the test\n');
  });

  it('gives a claim a volume that the group of a pod may write, and takes it back', async () => {
    const [claim, pod] = ['claim', { namespace: namespace.name, name: 'writes' }];
    await core.createNamespacedPersistentVolumeClaim({
      namespace: namespace.name,
      body: {
        metadata: { name: claim },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
      },
    });
    const program = 'import os; open("/data/file", "w").write("x"); print(os.getuid(), os.stat("/data/file").st_gid)';
    await createPod({
      ...pod,
      container: {
        image: BASE_IMAGE,
        command: ['python', '-c', program],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
      spec: {
        securityContext: { fsGroup: 10001 },
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }],
      },
    });
    expect((await untilEnded(pod)).log).toBe('10001 10001\n');
    await core.deleteNamespacedPod(pod);
    await core.deleteNamespacedPersistentVolumeClaim({ namespace: namespace.name, name: claim });
    const ofClaim = async () =>
      (await core.listPersistentVolume()).items.filter(({ spec }) => spec?.claimRef?.namespace === namespace.name);
    await eventually(async () => (await ofClaim()).length === 0);
  });

  it('lets pods call the API under the address and the name of its service, as themselves', async () => {
    const program = `
import ssl, urllib.request
folder = "/var/run/secrets/kubernetes.io/serviceaccount/"
context = ssl.create_default_context(cafile=folder + "ca.crt")
headers = {"Authorization": "Bearer " + open(folder + "token").read()}
for host in ["10.96.0.1", "kubernetes.default.svc"]:
    request = urllib.request.Request(f"https://{host}/version", headers=headers)
    print(urllib.request.urlopen(request, context=context).status)
`;
    const { log } = await run('calls-api', { image: BASE_IMAGE, command: ['python', '-c', program] });
    expect(log).toBe('200\n200\n');
  });
});

describe.runIf(CLUSTER_STATE)('a part of the cluster', () => {
  it('that was killed comes again, and the cluster with it', async () => {
    for (const name of ['kube-apiserver', 'kubelet', 'containerd'] as const) await killComponent(name);
    await eventually(async () => (await core.readNode({ name: 'node1' })).metadata?.name === 'node1');
    expect((await run('after-kill', { image: BASE_IMAGE, args: ['--version'] })).exitCode).toBe(0);
  });

  it('that is held stays away until it is let go', async () => {
    {
      using held = await holdComponent('kube-scheduler');
      expect(held).toBeDefined();
      await killComponent('kube-proxy'); // comes again by the same way, in the same time
      expect(componentPid('kube-scheduler')).toBeUndefined();
    }
    expect((await run('after-hold', { image: BASE_IMAGE, args: ['--version'] })).exitCode).toBe(0);
  });
});
