import { describe, expect, it, vi } from 'vitest';
import { createCompilerPool } from './compiler-pool.ts';
import type { CompileAnswer, Compiler } from './compiler.ts';

const ANSWER = { ok: true, duration_ms: 1, output: '', output_truncated: false, warnings: [], dags: [] } as const;

const NO_MODULE = { type: 'import', message: 'No module', path: 'a.py', line: 1, instead: '', traceback: '' };

function harness(more: { idleMs?: number; runsElsewhere?: boolean } = {}) {
  const happened: string[] = [];
  const held = new Map<string, PromiseWithResolvers<void>>();
  const compilerOf = (name: string): Compiler => ({
    async compile({ path }): Promise<CompileAnswer> {
      happened.push(`${name} compiles ${path}`);
      const ended = await held.get(path)?.promise.catch((error: Error) => error);
      return ended instanceof Error ? { ...ANSWER, ok: false, error: NO_MODULE } : ANSWER;
    },
    async close() {
      happened.push(`${name} closes`);
    },
  });
  const pool = createCompilerPool({
    base: compilerOf('base'),
    interpreters: {
      get: async (dependencies) => {
        if (dependencies.includes('broken')) throw new Error('installing broken failed: no such package');
        return `python-${dependencies.join('+')}`;
      },
      providers: async (dependencies) => {
        if (dependencies.includes('silent')) throw new Error('asking Python for its packages failed');
        return [{ name: `providers of ${dependencies.join('+')}`, version: '1', summary: '', documentation_url: null }];
      },
    },
    open: (python) => {
      happened.push(`${python} starts`);
      return compilerOf(python);
    },
    ...more,
  });
  const compile = (path: string, dependencies: string[] = []) => pool.compile({ path, dagsFolder: '/', dependencies });
  return { pool, happened, held, compile };
}

describe('compilers of several interpreters', () => {
  it('are started when a file wants one, and shared by files of the same', async () => {
    const { compile, happened, pool } = harness();
    await compile('plain');
    await Promise.all([compile('a', ['x']), compile('b', ['x'])]);
    await pool.close();
    expect(happened).toEqual([
      'base compiles plain',
      'python-x starts',
      'python-x compiles a',
      'python-x compiles b',
      'base closes',
      'python-x closes',
    ]);
  });

  it('answer for an environment that cannot be made, and go on with the others', async () => {
    const { compile, happened } = harness();
    expect(await compile('a', ['broken'])).toMatchObject({
      ok: false,
      error: { type: 'environment', message: 'installing broken failed: no such package' },
    });
    await compile('b', ['x']);
    expect(happened).toContain('python-x compiles b');
  });

  it('name the provider packages of the environment of each file that loads', async () => {
    const { compile } = harness();
    expect(await compile('plain')).toMatchObject({ providers: [{ name: 'providers of ' }] });
    expect(await compile('a', ['x'])).toMatchObject({ providers: [{ name: 'providers of x' }] });
  });

  it('compile a file although the packages of its environment cannot be listed', async () => {
    const answer = await harness().compile('a', ['silent']);
    expect(answer).toMatchObject({ ok: true, providers: undefined });
  });

  it('name no packages of this machine where tasks run on another one', async () => {
    const { compile } = harness({ runsElsewhere: true });
    expect(await compile('plain')).not.toHaveProperty('providers');
    expect(await compile('without its packages', ['broken'])).not.toHaveProperty('providers');
    expect(await compile('a', ['x'])).toMatchObject({ providers: [{ name: 'providers of x' }] });
  });

  it('do without packages that cannot be had where tasks do not run, if the file loads, and say so', async () => {
    const { compile, held } = harness({ runsElsewhere: true });
    expect(await compile('a', ['broken'])).toMatchObject({
      ok: true,
      warnings: ['compiled without its packages: installing broken failed: no such package'],
    });
    held.set('imports them', Promise.withResolvers());
    held.get('imports them')?.reject(new Error('no module'));
    expect(await compile('imports them', ['broken'])).toMatchObject({ ok: false, error: { type: 'environment' } });
  });

  it('end when nobody has used them for a while, and not before', async () => {
    vi.useFakeTimers();
    try {
      const { compile, happened, held } = harness({ idleMs: 1_000 });
      held.set('slow', Promise.withResolvers());
      const slow = compile('slow', ['x']);
      await vi.advanceTimersByTimeAsync(5_000);
      await compile('quick', ['x']);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(happened).not.toContain('python-x closes');
      held.get('slow')?.resolve();
      await slow;
      await vi.advanceTimersByTimeAsync(999);
      expect(happened).not.toContain('python-x closes');
      await vi.advanceTimersByTimeAsync(1);
      expect(happened).toContain('python-x closes');
      await compile('again', ['x']);
      expect(happened.filter((line) => line === 'python-x starts')).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });
});
