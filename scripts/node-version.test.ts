import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gte, minVersion, satisfies } from 'semver';
import { describe, expect, it } from 'vitest';
import { ROOT } from '@svc/testing/paths.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { engines?: { node?: string } }>;
};
const [, named = ''] = /Node (\d+\.\d+) or newer/.exec(read('README.md')) ?? [];

describe('the Node version that the README names', () => {
  it('is the oldest one that package.json accepts', () => {
    expect(minVersion(engines.node)?.version).toBe(`${named}.0`);
  });

  it('is accepted by every package of the lock file, so that npm ci prints no warning', () => {
    const refusing = Object.entries(packages).filter(
      ([, { engines: needed }]) => typeof needed?.node === 'string' && !satisfies(`${named}.0`, needed.node),
    );
    expect(refusing.map(([path, { engines: needed }]) => `${path} needs ${needed?.node}`)).toEqual([]);
  });

  it('is not newer than the Node that the repository brings', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: { node: string } };
    expect(gte(dependencies.node, `${named}.0`)).toBe(true);
    expect(satisfies(dependencies.node, engines.node)).toBe(true);
  });
});
