import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { imageRepository, imageTag, isLocalRegistry } from './image-name.ts';
import type { TagSource } from './image-name.ts';

const registry = { auth_method: 'docker_config', tag_strategy: 'version' } as const;
const repository = (dagId: string, url?: string): unknown =>
  imageRepository({ dag_id: dagId, registry: { ...registry, ...(url !== undefined && { url }) } });

describe('the repository', () => {
  it('is registry.url and the DAG id in lower case, which is all registries take', () => {
    expect(repository('Orders_Daily', 'registry.example.com:5000/team/dags/')).toEqual({
      name: 'registry.example.com:5000/team/dags/orders_daily',
      registry: 'registry.example.com:5000',
    });
  });

  it('without registry.url is one that cannot be pushed to a public registry by mistake', () => {
    expect(repository('orders')).toEqual({ name: 'localhost/orders', registry: undefined });
  });

  it.each(['_private', 'a___b', 'dag-', '-x'])('of the DAG %s is refused with what to do', (dagId) => {
    expect(() => repository(dagId, 'r.example.com')).toThrow(`dag_id ${dagId} cannot be part of an image name`);
  });

  it.each([
    ['https://r.example.com/dags', /without https:\/\//],
    ['team/dags', /must begin with a host/],
    ['r.example.com/Team', /"Team".*lower case/],
    ['r.example.com//x', /""/],
    ['r.example.com:port/x', /must begin with a host/],
    [`r.example.com/${'x'.repeat(255)}`, /characters/],
  ])('does not take registry.url %s', (url, message) => {
    expect(() => repository('orders', url)).toThrow(message);
  });

  it('is a valid reference whenever it is not refused', () => {
    const part = fc.constantFrom('a', 'B', '0', '.', '_', '-', '/', ':', 'example.com', '..', '@');
    const text = fc.array(part, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (dagId, url) => {
        let name = 'example.com/ok';
        try {
          ({ name } = imageRepository({ dag_id: dagId, registry: { ...registry, url } }));
        } catch {
          // Refused.
        }
        expect(name).toMatch(/^[A-Za-z0-9.-]+(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+$/);
      }),
    );
  });
});

it('a registry may speak plain HTTP only on this machine', () => {
  expect(['localhost', 'localhost:5000', '127.0.0.1:5000', '127.9.9.9'].map(isLocalRegistry)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['localhost.example.com', '127.0.0.1.example.com', '10.0.0.1:5000', undefined].map(isLocalRegistry)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

describe('the tag', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-git-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  // Nothing of the machine's git configuration, and no repository above the temporary directory.
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CEILING_DIRECTORIES: tmpdir(),
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], {
      cwd: directory,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const tag = (strategy: 'version' | 'content' | 'git', source: TagSource = {}, where = directory): Promise<string> =>
    imageTag({ strategy, source, directory: where, env });

  it('by version is the number it will be registered under', async () => {
    expect(await tag('version', { versionNumber: 12 })).toBe('v12');
    for (const versionNumber of [undefined, 0, 1.5, Number.NaN]) {
      await expect(tag('version', { versionNumber })).rejects.toThrow(/number of the next version is not known/);
    }
  });

  it('by content is the beginning of the hash', async () => {
    expect(await tag('content', { contentHash: 'abcdef0123456789' })).toBe('abcdef012345');
    for (const contentHash of [undefined, 'abc', 'ABCDEF0123456789', '../../../../..']) {
      await expect(tag('content', { contentHash })).rejects.toThrow(/content hash/);
    }
  });

  it('by git is the commit, and says when what is built is not what was committed', async () => {
    git('init', '-q');
    mkdirSync(join(directory, 'dags/orders'), { recursive: true });
    const project = join(directory, 'dags/orders');
    writeFileSync(join(project, 'dag.py'), '');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    const commit = git('rev-parse', 'HEAD').slice(0, 12);
    expect(await tag('git', {}, project)).toBe(commit);

    writeFileSync(join(directory, 'elsewhere.txt'), 'not in the image');
    writeFileSync(join(project, '.svc-build-00000000-1-0123456789ab'), 'of a crashed build');
    expect(await tag('git', {}, project)).toBe(commit);

    writeFileSync(join(project, 'new.py'), 'not committed');
    expect(await tag('git', {}, project)).toBe(`${commit}-dirty`);
  });

  it('by git without a commit, a repository or git itself is an error that says what to do', async () => {
    await expect(tag('git')).rejects.toMatchObject({
      message: expect.stringMatching(/not a git repository/),
      hint: expect.stringMatching(/Commit/),
    });
    git('init', '-q');
    await expect(tag('git')).rejects.toThrow(/registry.tag_strategy is git, but the commit of/);
    await expect(imageTag({ strategy: 'git', source: {}, directory, env: { PATH: '/nonexistent' } })).rejects.toThrow(
      /git is not installed/,
    );
  });
});
