import { describe, expect, it } from 'vitest';
import { mergeDependencies } from './merge-dependencies.ts';
import type { Located } from './merge-dependencies.ts';

const packageOf = (name: string, dependencies: Record<string, string>): Located => ({
  folder: `packages/${name}`,
  manifest: { name: `@svc/${name}`, version: '1.0.0', dependencies },
});
const lock = {
  packages: {
    'node_modules/yaml': { version: '2.9.1' },
    'node_modules/pg': { version: '8.23.1' },
    'packages/old/node_modules/yaml': { version: '1.10.0' },
  },
};

describe('what packages of ours need, installed together', () => {
  it('is what the lock file has, once, without our own', () => {
    const packages = [
      packageOf('server', { yaml: '^2.9.0', pg: '^8.0.0', '@svc/spec': '*' }),
      packageOf('spec', { yaml: '^2.9.0' }),
    ];
    expect(mergeDependencies(packages, 'dependencies', lock)).toEqual({ pg: '8.23.1', yaml: '2.9.1' });
    expect(mergeDependencies(packages, 'optionalDependencies', lock)).toEqual({});
  });

  it('is refused when two ask for different versions, by range or by what npm gave them', () => {
    const server = packageOf('server', { yaml: '^2.9.0' });
    for (const other of [packageOf('spec', { yaml: '^2.8.0' }), packageOf('old', { yaml: '^2.9.0' })]) {
      expect(() => mergeDependencies([server, other], 'dependencies', lock)).toThrow(/@svc\/server wants yaml/);
    }
  });

  it('is refused when the lock file does not know it', () => {
    expect(() => mergeDependencies([packageOf('spec', { new: '1' })], 'dependencies', lock)).toThrow(/run npm install/);
  });
});
