import { describe, expect, it } from 'vitest';
import { TOOL_NAMES } from './container-tool.ts';
import { buildCommands, loginArguments, readDigest } from './tool-commands.ts';
import type { ImageBuild } from './tool-commands.ts';

const build: ImageBuild = {
  image: 'registry.example.com/dags/orders:v3',
  platforms: ['linux/amd64'],
  buildFile: '.svc-build-x',
  ignoreFile: '.svc-build-x.dockerignore',
  push: true,
  isLocalRegistry: false,
  digestFile: '/tmp/d',
  listName: 'localhost/svc-list:1',
};

const lines = (tool: 'docker' | 'podman' | 'buildah', change: Partial<ImageBuild> = {}): string[] =>
  buildCommands(tool, { ...build, ...change }).map((command) => `${command.step}: ${command.arguments.join(' ')}`);

describe('docker', () => {
  it('builds and pushes in one command, with BuildKit, and says what it pushed', () => {
    expect(lines('docker')).toEqual([
      'build: buildx build --progress=plain --file=.svc-build-x --platform=linux/amd64 --tag=registry.example.com/dags/orders:v3 --provenance=false --metadata-file=/tmp/d --push .',
    ]);
  });

  it('keeps on this machine an image that is not pushed', () => {
    expect(lines('docker', { push: false })[0]).toContain(' --load .');
  });

  it('builds for several platforms in one command', () => {
    expect(lines('docker', { platforms: ['linux/amd64', 'linux/arm64'] })[0]).toContain(
      '--platform=linux/amd64,linux/arm64',
    );
  });
});

describe('podman and buildah', () => {
  it('are told where the ignore file is, and build, then push', () => {
    expect(lines('podman')).toEqual([
      'build: build --file=.svc-build-x --platform=linux/amd64 --ignorefile=.svc-build-x.dockerignore --tag=registry.example.com/dags/orders:v3 .',
      'push: push --digestfile=/tmp/d registry.example.com/dags/orders:v3 docker://registry.example.com/dags/orders:v3',
    ]);
  });

  it('collect several platforms under a new name, which they give up at the end', () => {
    expect(lines('buildah', { platforms: ['linux/amd64', 'linux/arm64'], isLocalRegistry: true })).toEqual([
      'build: build --layers --file=.svc-build-x --platform=linux/amd64,linux/arm64 --ignorefile=.svc-build-x.dockerignore --manifest=localhost/svc-list:1 .',
      'tag: tag localhost/svc-list:1 registry.example.com/dags/orders:v3',
      'push: manifest push --all --digestfile=/tmp/d --tls-verify=false localhost/svc-list:1 docker://registry.example.com/dags/orders:v3',
      'tidy: manifest rm localhost/svc-list:1',
    ]);
  });

  it.each(['podman', 'buildah'] as const)('%s does not push unasked', (tool) => {
    for (const platforms of [['linux/amd64'], ['linux/amd64', 'linux/arm64']]) {
      expect(lines(tool, { platforms, push: false }).filter((line) => line.startsWith('push'))).toEqual([]);
    }
  });
});

describe('every tool', () => {
  it.each(TOOL_NAMES)('%s verifies certificates, except for a registry on this machine', (tool) => {
    expect(
      [
        ...lines(tool),
        ...loginArguments(tool, { registry: 'r.example.com', username: 'u', isLocalRegistry: false }),
      ].join(' '),
    ).not.toContain('tls-verify');
  });

  it.each(TOOL_NAMES)('%s gets the password by its input and nowhere else', (tool) => {
    expect(loginArguments(tool, { registry: 'r.example.com', username: '--x', isLocalRegistry: false })).toEqual([
      'login',
      '--username=--x',
      '--password-stdin',
      'r.example.com',
    ]);
  });

  it('passes build arguments as one word each', () => {
    const [command] = buildCommands('docker', { ...build, buildArguments: { PYTHON_LINE: '3.11' } });
    expect(command?.arguments).toContain('--build-arg=PYTHON_LINE=3.11');
  });
});

describe('the digest', () => {
  const digest = `sha256:${'0a'.repeat(32)}`;

  it('is read from what each tool writes', () => {
    expect(readDigest('podman', `${digest}\n`)).toBe(digest);
    expect(readDigest('buildah', digest)).toBe(digest);
    expect(readDigest('docker', JSON.stringify({ 'containerimage.digest': digest, 'image.name': 'x' }))).toBe(digest);
  });

  it('is never made up: an empty or broken file has none', () => {
    for (const text of ['', ' ', 'sha256:', 'null', '{}', '{"containerimage.digest":3}', `${digest}0`]) {
      for (const tool of TOOL_NAMES) expect(readDigest(tool, text)).toBeUndefined();
    }
  });
});
