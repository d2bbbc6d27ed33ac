/** `svc deploy` and `svc compile --push` with a real container tool and a registry on this machine. */
import { workspaceOf, dagText, writeFiles } from '@svc/testing/compiler/workspace.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { CAN_BUILD, startContainerMachine } from '@svc/testing/build/container-machine.ts';
import type { ContainerMachine } from '@svc/testing/build/container-machine.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';

let server: TestServer;
let machine: ContainerMachine;
let env: Record<string, string>;

beforeAll(async () => {
  if (!CAN_BUILD) return;
  [server, machine] = await Promise.all([startTestServer(), startContainerMachine(['podman'])]);
  env = {
    ...machine.env,
    SVC_SERVER_URL: server.url,
    SVC_TOKEN: await server.login(),
    SVC_PYTHON: await pythonEnvironment(),
  };
});
afterAll(async () => {
  if (!CAN_BUILD) return;
  await server.close();
  await machine[Symbol.asyncDispose]();
});

const HERE = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
const projectFile = (dagId: string, registry: string): string =>
  JSON.stringify({
    dag_id: dagId,
    base_image: machine.baseImage,
    build: { platforms: [HERE] },
    ...(registry && { registry: { url: registry } }),
  });
const svc = (...argv: string[]) => runSvc([...argv, '--builder', 'podman'], { env });
const storedImages = (dagId: string) =>
  server.db.shared.selectFrom('dag_versions').select(['version_number', 'image']).where('dag_id', '=', dagId).execute();

describe.runIf(CAN_BUILD)('an image', () => {
  it('is built, pushed under the number of the next version, and registered by its digest', async () => {
    const registry = `${machine.registry}/dags`;
    const root = workspaceOf({
      'orders/svc.yaml': projectFile('svc-test-orders', registry),
      'orders/dag.py': dagText('svc-test-orders'),
    });
    const { code, stdout, stderr } = await svc('deploy', join(root, 'orders'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`created +v1 +${registry}/svc-test-orders@sha256:[0-9a-f]{64}`));
    const [stored] = await storedImages('svc-test-orders');
    const digest = stored?.image?.split('@')[1];
    const manifest = await fetch(`http://${machine.registry}/v2/dags/svc-test-orders/manifests/v1`, {
      headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
    });
    expect(manifest.headers.get('docker-content-digest')).toBe(digest);

    writeFiles(root, { 'orders/dag.py': dagText('svc-test-orders', ['changed']) });
    expect((await svc('deploy', join(root, 'orders'))).code).toBe(0);
    const images = await storedImages('svc-test-orders');
    expect(images.map(({ version_number: number }) => number).sort()).toEqual([1, 2]);
    expect(new Set(images.map(({ image }) => image)).size).toBe(2);
    const tags = await fetch(`http://${machine.registry}/v2/dags/svc-test-orders/tags/list`);
    expect(await tags.json()).toMatchObject({ tags: expect.arrayContaining(['v1', 'v2']) });
  });

  it('is left out with --no-build, and made for this machine only with --build and no registry', async () => {
    const root = workspaceOf({
      'a/svc.yaml': projectFile('svc-test-a', `${machine.registry}/dags`),
      'a/dag.py': dagText('svc-test-a'),
    });
    expect((await svc('deploy', join(root, 'a'), '--no-build')).code).toBe(0);
    expect(await storedImages('svc-test-a')).toMatchObject([{ image: null }]);
    writeFiles(root, { 'b/svc.yaml': projectFile('svc-test-b', ''), 'b/dag.py': dagText('svc-test-b') });
    expect((await svc('deploy', join(root, 'b'))).code).toBe(0);
    expect(await storedImages('svc-test-b')).toMatchObject([{ image: null }]);
    const local = await svc('deploy', join(root, 'b'), '--build');
    expect(local).toMatchObject({ code: 0, stderr: expect.stringContaining('on this machine only') });
    expect(await storedImages('svc-test-b')).toHaveLength(2);
  });

  it('that cannot be built fails its own project alone, and nothing of it is registered', async () => {
    const root = workspaceOf({
      'bad/svc.yaml': projectFile('svc-test-bad', `${machine.registry}/dags`),
      'bad/dag.py': dagText('svc-test-bad'),
      'bad/Dockerfile': 'FROM localhost/svc-test-nothing:1\n',
      'good/dag.py': dagText('good'),
    });
    const { code, stdout, stderr } = await svc('deploy', '--all', root);
    expect(code).toBe(1);
    expect(stdout).toMatch(/svc-test-bad +failed[\s\S]*good +created +v1/);
    expect(stderr).toMatch(/bad: building .*failed[\s\S]*1 of 2 were not deployed/);
    expect(await storedImages('svc-test-bad')).toEqual([]);
  });

  it('is built with a warning that helper modules are not in it', async () => {
    const root = workspaceOf({
      'c/svc.yaml': projectFile('svc-test-c', ''),
      'c/dag.py': `import helper\n${dagText('svc-test-c')}`,
      'c/helper.py': '',
    });
    const { stderr } = await svc('compile', join(root, 'c'), '-o', join(root, 'out'), '--build');
    expect(stderr).toContain('imports helper.py: add a Dockerfile');
  });

  it('of a repository is one for all its DAGs, on our base whatever its Dockerfile says, and changes with its files', async () => {
    const url = `${machine.registry}/dags`;
    const root = workspaceOf({
      'svc-test-repo/svc.yaml': JSON.stringify({
        base_image: machine.baseImage,
        build: { platforms: [HERE] },
        registry: { url },
      }),
      'svc-test-repo/Dockerfile': 'FROM apache/airflow:3.2.2\nENTRYPOINT ["x"]\n',
      'svc-test-repo/dags/one.py': `from helpers import X\n${dagText('svc-test-one')}`,
      'svc-test-repo/dags/two.py': dagText('svc-test-two'),
      'svc-test-repo/plugins/helpers.py': 'X = 1',
      'svc-test-repo/include/query.sql': 'select 1',
      'svc-test-repo/.env': 'PASSWORD=hush',
    });
    const deploy = () => svc('deploy', join(root, 'svc-test-repo'));
    const tags = async (): Promise<string[]> =>
      ((await (await fetch(`http://${machine.registry}/v2/dags/svc-test-repo/tags/list`)).json()) as { tags: string[] })
        .tags;
    const { code, stdout, stderr } = await deploy();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('ENTRYPOINT is not carried out') });
    const images = stdout.match(/svc-test-repo@sha256:[0-9a-f]{64}/g);
    expect(images).toHaveLength(2);
    expect(new Set(images).size).toBe(1);
    expect(await tags()).toHaveLength(1);
    await deploy();
    expect(await tags()).toHaveLength(1);
    writeFiles(root, { 'svc-test-repo/include/query.sql': 'select 2' });
    await deploy();
    expect(await tags()).toHaveLength(2);
  });

  it('carries the transformation projects its task groups name', async () => {
    const group = 'with TaskGroup("models", project_dir="warehouse"):\n        EmptyOperator(task_id="run")';
    const root = workspaceOf({
      'd/svc.yaml': projectFile('svc-test-d', ''),
      'd/dag.py': [
        'from airflow.sdk import DAG, TaskGroup',
        'from airflow.providers.standard.operators.empty import EmptyOperator',
        'with DAG("svc-test-d", schedule=None):',
        `    ${group}`,
        '',
      ].join('\n'),
      'd/warehouse/models/orders.sql': 'select 1\n',
    });
    expect((await svc('compile', join(root, 'd'), '-o', join(root, 'out'), '--build')).code).toBe(0);
    const outside = group.replace('warehouse', '../elsewhere');
    writeFiles(root, {
      'd/dag.py': `from airflow.sdk import DAG, TaskGroup\nfrom airflow.providers.standard.operators.empty import EmptyOperator\nwith DAG("svc-test-d", schedule=None):\n    ${outside}\n`,
    });
    const refused = await svc('compile', join(root, 'd'), '-o', join(root, 'out'), '--build');
    expect(refused.stderr).toMatch(/task group.*inside the DAG directory/);
  });
});
