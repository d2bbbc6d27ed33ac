import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { CAN_BUILD, startContainerMachine } from '@svc/testing/build/container-machine.ts';
import type { ContainerMachine } from '@svc/testing/build/container-machine.ts';
import { buildImage } from '@svc/cli/build/build-image.ts';
import { VERSION } from '@svc/cli/version.ts';
import { loadProject } from '@svc/spec/project/load.ts';
import { buildBaseImages, publishedLines, readOptions } from './build-base-images.ts';

describe('the lines of a release', () => {
  test('a line has an image on its last day, and none in a release cut after it', () => {
    expect(publishedLines('2026-10-31')).toEqual(['3.10', '3.11', '3.12', '3.13']);
    expect(publishedLines('2026-11-01')).toEqual(['3.11', '3.12', '3.13']);
  });

  test('a line that is not published cannot be built by asking for it', () => {
    expect(() => readOptions(['--line', '3.10'], '2026-11-15')).toThrow('has images for 3.11, 3.12, 3.13');
    expect(() => readOptions(['--line', '3.14'], '2026-10-01')).toThrow('--line 3.14');
    expect(readOptions(['--line', '3.10'], '2026-10-01').lines).toEqual(['3.10']);
  });
});

describe('options', () => {
  test('what is pushed is for every platform, what stays here for this one', () => {
    expect(readOptions(['--push'], '2026-11-15').platforms).toEqual(['linux/amd64', 'linux/arm64']);
    expect(readOptions([], '2026-11-15').platforms).toHaveLength(1);
    expect(readOptions(['--push', '--platform', 'linux/arm64'], '2026-11-15').platforms).toEqual(['linux/arm64']);
  });

  test('mistakes are named', () => {
    expect(() => readOptions(['--release-date', 'tomorrow'], '2026-11-15')).toThrow('--release-date tomorrow');
    expect(() => readOptions(['--builder', 'kaniko'], '2026-11-15')).toThrow('--builder kaniko');
    expect(() => readOptions(['--lines', '3.11'], '2026-11-15')).toThrow('--lines');
  });
});

// No public registry is asked: busybox stands in for the two images ours are built on, with an npm that links what the
// agent needs. That shows the build file to be sound and complete, not that the real packages install.
describe.skipIf(!CAN_BUILD)('the build file', () => {
  let machine: ContainerMachine;
  beforeAll(async () => {
    if (!CAN_BUILD) return;
    machine = await startContainerMachine(['podman']);
    const standIn = `FROM ${machine.baseImage}
RUN for tool in mkdir ln ls cp dirname; do busybox ln -s busybox /bin/$tool; done
RUN mkdir -p /usr/local/bin && for tool in npm groupadd useradd; do \\
  printf '#!/bin/sh\\necho "$0 $*" >> /tmp/calls\\n' > /usr/local/bin/$tool; busybox chmod 755 /usr/local/bin/$tool; done
RUN printf '%s\\n' 'case $1 in ci) mkdir -p node_modules/@svc node_modules/node/bin && ln -sf ../../packages/agent node_modules/@svc/agent && : > node_modules/node/bin/node ;; ls) echo $PWD; echo $PWD/node_modules/@svc/agent ;; esac' >> /usr/local/bin/npm
`;
    const directory = machine.env['HOME'] ?? '';
    writeFileSync(join(directory, 'Standin'), standIn);
    for (const name of ['node:24-trixie-slim', 'python:3.12-slim-trixie']) {
      const image = `${machine.registry}/library/${name}`;
      machine.tool('podman', 'build', '--file', join(directory, 'Standin'), '--tag', image, directory);
      machine.tool('podman', 'push', image);
    }
    const mirror = `[[registry]]\nprefix = "docker.io"\nlocation = "${machine.registry}"\ninsecure = true\n`;
    writeFileSync(machine.env['CONTAINERS_REGISTRIES_CONF'] ?? '', mirror);
    return () => machine[Symbol.asyncDispose]();
  });

  it('copies the agent and the Python package, leaves everything else, and ends as a number', async () => {
    const image = await buildLine();
    const files = [...machine.filesOf('podman', image).keys()].filter((path) => path.startsWith('opt/svc/'));
    const below = (folder: string): string[] => {
      const names = files
        .filter((path) => path.startsWith(`opt/svc/${folder}/`))
        .map((path) => path.split('/')[3] ?? '');
      return [...new Set(names)].filter((name) => name !== '').sort();
    };
    expect(['bin', 'packages', 'python'].map(below)).toEqual([
      ['find-node.sh', 'svc-agent'],
      ['agent'],
      ['airflow', 'requirements.txt', 'svc_runtime'], // the pinned requirements are installed from that file
    ]);
    expect(files).toContain('opt/svc/packages/agent/package.json');
    expect(files).toContain('opt/svc/python/svc_runtime/__init__.py');
    expect(files.filter((path) => /\.test\.ts$|\/testing\/|\.pyc$|__pycache__/.test(path))).toEqual([]);

    const inspected = machine.tool('podman', 'image', 'inspect', image);
    const [{ Config }] = JSON.parse(inspected) as [{ Config: Record<string, unknown> }];
    expect(Config).toMatchObject({ User: '10001:10001', Entrypoint: ['svc-agent'], WorkingDir: '/opt/svc/dag' });
    expect(machine.readFrom('podman', image, 'python.calls').split('\0')).toContain('pip');
  });

  it('makes the image that a DAG of this release asks for', async () => {
    await buildLine();
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
    expect([...machine.filesOf('podman', image).keys()]).toContain('opt/svc/bin/svc-agent');
  });

  async function buildLine(): Promise<string> {
    const options = readOptions(['--line', '3.12', '--builder', 'podman'], '2026-11-15');
    const built = await buildBaseImages({ ...options, env: machine.env, onLine: () => {} });
    expect(built).toEqual([{ image: `svc-base:3.12-${VERSION}`, digest: null }]);
    return `svc-base:3.12-${VERSION}`;
  }
});
