/** `svc deploy` from a project on disk to pods that run it, with everything real in between. */
import type { V1Pod } from '@kubernetes/client-node';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPackageIndex } from '@svc/testing/build/package-index.ts';
import type { PackageIndex } from '@svc/testing/build/package-index.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { HOST_ADDRESS, REGISTRY } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { BASE_IMAGE, PYTHON_LINE, makeImageTools } from '@svc/testing/kubernetes/images.ts';
import type { ImageTools } from '@svc/testing/kubernetes/images.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { watchPods } from '@svc/testing/kubernetes/watch-pods.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { VERSION } from '../version.ts';

const HERE = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
/** Base images as a company has them: ours, with its own indexes of packages. */
const COMPANY_REPOSITORY = `${REGISTRY}/company/svc-base`;

const PROJECT = {
  dag_id: 'Orders',
  python_version: PYTHON_LINE,
  dependencies: ['acme-greeting>=1.0'],
  system_packages: ['acme-tool'],
  build: { platforms: [HERE] },
  registry: { url: `${REGISTRY}/dags`, auth_method: 'none' },
};

const DAG = `
import os, sys
from airflow.sdk import dag, task
from airflow.providers.standard.operators.bash import BashOperator

@dag(dag_id="Orders", schedule=None)
def orders():
    @task
    def extract():
        import acme_greeting
        print("the package says", acme_greeting.text())
        print("it is in", os.path.dirname(acme_greeting.__file__))
        return acme_greeting.text()

    @task
    def load(greeting):
        print("handed on:", greeting)
        print("environments:", sys.prefix != sys.base_prefix, os.path.exists(os.path.expanduser("~/.cache/svc")))

    load(extract()) >> BashOperator(task_id="report", bash_command="acme-tool in $PWD as $(id -u)")

orders()
`;

let namespace: TestNamespace;
let server: ClusterControlPlane;
let tools: ImageTools;
let index: PackageIndex;
let env: Record<string, string>;

beforeAll(async () => {
  const python = await pythonEnvironment();
  [namespace, index] = await Promise.all([
    createTestNamespace('deploy'),
    startPackageIndex({
      host: HOST_ADDRESS,
      python,
      pythonPackages: [
        {
          module: 'acme_greeting',
          version: '1.2',
          requires: ['acme-words'],
          text: 'import acme_words\n\ndef text():\n    return acme_words.HELLO + " from a package"\n',
        },
        { module: 'acme_words', version: '0.1', text: 'HELLO = "hello"\n' },
      ],
      debianPackages: [{ name: 'acme-tool', version: '3.1', script: '#!/bin/sh\necho "acme-tool 3.1 $*"\n' }],
    }),
  ]);
  server = await startClusterControlPlane(namespace.name);
  tools = makeImageTools();
  const base = [`FROM ${BASE_IMAGE}`, 'USER 0:0', ...index.settings, 'USER 10001:10001', ''].join('\n');
  tools.pushImage(`company/svc-base:${PYTHON_LINE}-${VERSION}`, base);
  env = { ...tools.env, SVC_SERVER_URL: server.url, SVC_TOKEN: server.token, SVC_PYTHON: python };
});
afterAll(async () => {
  await server?.close();
  tools?.[Symbol.dispose]();
  await index?.[Symbol.asyncDispose]();
  await namespace?.[Symbol.asyncDispose]();
});

describe('a deployed project', () => {
  it('runs in pods of the image that was built for it, pinned by its digest, with its packages in it', async () => {
    const root = workspaceOf({ 'orders/svc.yaml': JSON.stringify(PROJECT), 'orders/dag.py': DAG });
    const seen = new Map<string, V1Pod>();
    const stopWatching = await watchPods(namespace.name, (pod) => {
      if (pod.status?.containerStatuses?.[0]?.imageID) seen.set(pod.metadata?.name ?? '', pod);
    });
    const deployed = await runSvc(
      ['deploy', join(root, 'orders'), '--builder', 'podman', '--base-repository', COMPANY_REPOSITORY, '--json'],
      { env },
    );
    // It is compiled with its packages, in an environment that may be there from before.
    const notes = /^(svc: making a Python environment with acme-greeting>=1\.0…\n)?$/;
    expect(deployed).toMatchObject({ code: 0, stderr: expect.stringMatching(notes) as string });
    const { units } = JSON.parse(deployed.stdout) as { units: { dags: { image: string; version_number: number }[] }[] };
    const image = units[0]?.dags[0]?.image ?? '';
    expect(image).toMatch(new RegExp(`^${REGISTRY}/dags/orders@sha256:[0-9a-f]{64}$`));

    await server.api('PATCH', '/dags/Orders', { is_paused: false });
    const runId = await server.trigger('Orders');
    const { state } = await server.ended('Orders', runId, 200);
    const logs = await Promise.all(['extract', 'load', 'report'].map((task) => server.log('Orders', runId, task)));
    expect({ state, logs }).toMatchObject({ state: 'success' });
    const [extract, load, report] = logs;
    expect(extract).toContain('the package says hello from a package');
    expect(extract).toContain(`it is in /usr/local/lib/python${PYTHON_LINE}/`);
    expect(load).toContain('handed on: hello from a package');
    // Neither in a virtual environment nor with one made beside it.
    expect(load).toContain('environments: False False');
    expect(report).toMatch(/acme-tool 3\.1 in \S+ as 10001/);

    await eventually(() => expect([...seen.keys()]).toHaveLength(3));
    stopWatching();
    const digest = image.split('@')[1];
    for (const { spec, status } of seen.values()) {
      expect(spec?.containers[0]?.image).toBe(image);
      expect(status?.containerStatuses?.[0]?.imageID).toMatch(new RegExp(`@${digest}$`));
      expect(spec?.containers[0]?.env).toContainEqual({ name: 'SVC_DEPENDENCIES', value: 'installed' });
    }
  });
});
