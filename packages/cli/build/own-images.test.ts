import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { CAN_BUILD, startContainerMachine } from '@svc/testing/build/container-machine.ts';
import type { ContainerMachine } from '@svc/testing/build/container-machine.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { loadProject } from '@svc/spec/project/load.ts';
import { VERSION } from '../version.ts';
import { buildImage } from './build-image.ts';
import { planImages, publishedLines } from './own-images.ts';
import type { OwnImagesRequest } from './own-images.ts';

const plan = (change: Partial<OwnImagesRequest> = {}) =>
  planImages({
    kinds: ['base', 'control-plane'],
    repository: 'r.example.com/x/svc-base',
    push: false,
    today: '2026-11-15',
    ...change,
  });

describe('the lines of a release', () => {
  test('a line has an image on its last day, and none in a release cut after it', () => {
    expect(publishedLines('2026-10-31')).toEqual(['3.10', '3.11', '3.12', '3.13']);
    expect(publishedLines('2026-11-01')).toEqual(['3.11', '3.12', '3.13']);
  });

  test('a line that is not published cannot be built by asking for it', () => {
    expect(() => plan({ lines: ['3.10'] })).toThrow('there are images for 3.11, 3.12, 3.13');
    expect(() => plan({ lines: ['3.14'], today: '2026-10-01' })).toThrow('--line 3.14');
    const [base] = plan({ lines: ['3.10'], today: '2026-10-01' });
    expect(base).toMatchObject({
      image: `r.example.com/x/svc-base:3.10-${VERSION}`,
      buildArguments: { PYTHON_LINE: '3.10' },
    });
  });
});

describe('options', () => {
  test('what is pushed is for every platform, what stays here for this one', () => {
    expect(plan({ push: true })[0]?.platforms).toEqual(['linux/amd64', 'linux/arm64']);
    expect(plan()[0]?.platforms).toHaveLength(1);
    expect(plan({ push: true, platforms: ['linux/arm64'] })[0]?.platforms).toEqual(['linux/arm64']);
  });

  test('the control plane lies beside the base images, or where it is told to', () => {
    expect(plan().map(({ image }) => image)).toEqual([
      ...['3.11', '3.12', '3.13'].map((line) => `r.example.com/x/svc-base:${line}-${VERSION}`),
      `r.example.com/x/svc-control-plane:${VERSION}`,
    ]);
    expect(plan({ kinds: ['control-plane'], repository: 'svc-base' })[0]?.image).toBe(`svc-control-plane:${VERSION}`);
    const elsewhere = plan({ kinds: ['control-plane'], controlPlaneRepository: 'r.example.com:5000/plane' });
    expect(elsewhere[0]?.image).toBe(`r.example.com:5000/plane:${VERSION}`);
  });

  test('mirrors of what ours start from reach the build file', () => {
    const mirrors = { nodeImage: 'm.example.com/node:24', pythonImage: 'm.example.com/python:3.12' };
    const [base, controlPlane] = plan({ ...mirrors, lines: ['3.12'] });
    const both = { NODE_IMAGE: mirrors.nodeImage, PYTHON_IMAGE: mirrors.pythonImage };
    expect(base?.buildArguments).toEqual({ PYTHON_LINE: '3.12', ...both });
    expect(controlPlane?.buildArguments).toEqual(both);
    expect(() => plan(mirrors)).toThrow('--python-image is of one Python line');
  });

  test('mistakes are named', async () => {
    expect(() => plan({ repository: 'svc-base:1' })).toThrow('--repository is "svc-base:1"');
    expect(() => plan({ repository: 'svc-base', push: true })).toThrow('names no registry to push to');
    const svc = async (...words: string[]) => (await runSvc(['images', 'build', ...words])).stderr;
    expect(await svc('--builder', 'kaniko')).toContain("'kaniko' is invalid");
    expect(await svc('--lines', '3.11')).toContain('--lines');
    expect(await svc('agent')).toContain("'agent' is invalid");
    expect(await svc('base', '--source', '/nowhere')).toMatch(/has no deploy\/base-images.*\n.*--source/);
  });
});

// No public registry is asked: busybox stands in for the two images ours are built on, with an npm and a
// Node that copy a few files. That shows the build file to be sound and complete, not that the real packages install.
describe.skipIf(!CAN_BUILD)('the build file', { timeout: 400_000 }, () => {
  let machine: ContainerMachine;
  let baseImage: string;
  beforeAll(async () => {
    if (!CAN_BUILD) return;
    machine = await startContainerMachine(['podman']);
    const standIn = `FROM ${machine.baseImage}
RUN for tool in mkdir ln ls cp dirname chown chmod; do busybox ln -s busybox /bin/$tool; done
RUN mkdir -p /usr/local/bin && for tool in npm groupadd useradd; do \\
  printf '#!/bin/sh\\necho "$0 $*" >> /tmp/calls\\n' > /usr/local/bin/$tool; busybox chmod 755 /usr/local/bin/$tool; done
RUN printf '%s\\n' 'mkdir -p node_modules/node/bin && cp /usr/local/bin/npm node_modules/node/bin/node' >> /usr/local/bin/npm
RUN printf '%s\\n' '#!/bin/sh' 'mkdir -p $2 $3 && cp packages/agent/package.json deploy/agent-bundle/start.cjs $2' > /usr/local/bin/node && busybox chmod 755 /usr/local/bin/node
`;
    const directory = machine.env['HOME'] ?? '';
    writeFileSync(join(directory, 'Standin'), standIn);
    const standInImage = 'localhost/stand-in:1';
    machine.tool('podman', 'build', '--file', join(directory, 'Standin'), '--tag', standInImage, directory);
    for (const name of ['node:24-trixie-slim', 'python:3.12-slim-trixie'])
      machine.tool('podman', 'push', standInImage, `docker://${machine.registry}/library/${name}`);
    const mirror = `[[registry]]\nprefix = "docker.io"\nlocation = "${machine.registry}"\ninsecure = true\n`;
    writeFileSync(machine.env['CONTAINERS_REGISTRIES_CONF'] ?? '', mirror);
    return () => machine[Symbol.asyncDispose]();
  });
  beforeAll(async () => {
    if (CAN_BUILD) baseImage = await buildLine();
  });

  it('copies the agent and the Python package, leaves everything else, and ends as a number', async () => {
    const content = machine.contentOf('podman', baseImage);
    const files = [...content.files.keys()].filter((path) => path.startsWith('opt/svc/'));
    const below = (folder: string): string[] => {
      const names = files
        .filter((path) => path.startsWith(`opt/svc/${folder}/`))
        .map((path) => path.split('/')[3] ?? '');
      return [...new Set(names)].filter((name) => name !== '').sort();
    };
    expect(['bin', 'packages', 'python'].map(below)).toEqual([
      ['svc-agent'],
      ['agent'],
      ['airflow', 'cosmos', 'requirements.txt', 'svc', 'svc_runtime'], // the pinned requirements are installed from that file
    ]);
    expect(files).toContain('opt/svc/packages/agent/package.json');
    expect(files).toContain('opt/svc/python/svc_runtime/__init__.py');
    expect(files.filter((path) => /\.test\.ts$|packages\/testing\/|\.pyc$|__pycache__/.test(path))).toEqual([]);

    const inspected = machine.tool('podman', 'image', 'inspect', baseImage);
    const [{ Config }] = JSON.parse(inspected) as [{ Config: Record<string, unknown> }];
    expect(Config).toMatchObject({ User: '10001:10001', Entrypoint: ['svc-agent'], WorkingDir: '/opt/svc/dag' });
    expect(content.read('python.calls').split('\0')).toContain('pip');
  });

  it('makes the image that a DAG of this release asks for', async () => {
    const projectDirectory = join(machine.env['HOME'] ?? '', 'project');
    mkdirSync(projectDirectory);
    writeFileSync(join(projectDirectory, 'dag.py'), '');
    const loaded = loadProject('python_version: 3.12', 'orders');
    if (!loaded.ok) throw new Error('the project does not load');
    const { image } = await buildImage({
      projectDirectory,
      project: loaded.project,
      groupDirectories: [],
      version: VERSION,
      tagSource: { versionNumber: 1 },
      push: false,
      platforms: [`linux/${process.arch === 'x64' ? 'amd64' : process.arch}`],
      builder: 'podman',
      env: machine.env,
    });
    expect([...machine.contentOf('podman', image).files.keys()]).toContain('opt/svc/bin/svc-agent');
  });

  async function buildLine(): Promise<string> {
    const words = ['images', 'build', 'base', '--line', '3.12', '--builder', 'podman', '--json'];
    const { code, stdout, stderr } = await runSvc(words, { env: { ...machine.env } });
    const image = `svc-base:3.12-${VERSION}`;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ images: [{ image, digest: null }] });
    return image;
  }
});
