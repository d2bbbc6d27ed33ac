/** The compiler from the outside: every file of the corpus becomes a valid spec, the same one every time. */
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { canonicalHash } from '@svc/spec/canonical.ts';
import { validateSpec } from '@svc/spec/validate.ts';
import { createCompiler, type Compiler } from './compiler.ts';

const DAGS = resolve(import.meta.dirname, '../../python/tests/dags');
const OWN = resolve(import.meta.dirname, '../../python/tests/dags_own');
const filesIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith('.py'));

let compiler: Compiler;
beforeAll(async () => {
  compiler = createCompiler({ python: await pythonEnvironment(), jobs: 2 });
});
afterAll(() => compiler.close());

async function compileText(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-dag-'));
  try {
    writeFileSync(join(folder, 'dag.py'), text);
    return await compiler.compile({ path: join(folder, 'dag.py'), dagsFolder: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the corpus', () => {
  it.each([
    [DAGS, filesIn(DAGS)],
    [OWN, filesIn(OWN)],
  ])(
    '%s compiles to valid specs whose hash is that of their canonical text in both languages',
    async (folder, names) => {
      expect(names.length).toBeGreaterThan(5);
      for (const name of names) {
        const answer = await compiler.compile({ path: join(folder, name), dagsFolder: folder });
        expect(answer, name).toMatchObject({ ok: true });
        for (const { spec, sha256, dag_id } of answer.dags) {
          expect(validateSpec(spec), dag_id).toEqual([]);
          expect(canonicalHash(spec), dag_id).toBe(sha256);
        }
      }
    },
  );

  it('gives the same hash from another process, from another folder and after other files', async () => {
    const other = createCompiler({ python: await pythonEnvironment() });
    try {
      for (const name of ['values_of_all_kinds.py', 'templates.py', 'real_sales_etl.py', 'groups.py']) {
        const request = { path: join(DAGS, name), dagsFolder: DAGS };
        const hashes = async (from: Compiler) => (await from.compile(request)).dags.map((dag) => dag.sha256);
        expect({ name, hashes: await hashes(other) }).toEqual({ name, hashes: await hashes(compiler) });
      }
    } finally {
      await other.close();
    }
    const text = `from airflow.sdk import DAG\nimport os\nfrom airflow.operators.bash import BashOperator\nwith DAG("d", template_searchpath=os.path.dirname(__file__)):\n    BashOperator(task_id="t", bash_command="cat " + __file__)\n`;
    const [first, second] = [await compileText(text), await compileText(text)];
    expect(first).toMatchObject({ ok: true });
    expect(first.dags[0]?.sha256).toBe(second.dags[0]?.sha256);
  });
});

describe('the compiler process', () => {
  it('starts again after its process died, and fails what was open instead of hanging', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-python-'));
    const marker = join(folder, 'died-once');
    // An interpreter that dies at its first request and works from then on.
    const script = `#!/bin/sh\nif [ ! -e '${marker}' ]; then touch '${marker}'; read line; kill -9 $$; fi\nexec '${await pythonEnvironment()}' "$@"\n`;
    writeFileSync(join(folder, 'python'), script, { mode: 0o755 });
    const fragile = createCompiler({ python: join(folder, 'python') });
    const request = { path: join(DAGS, 'groups.py'), dagsFolder: DAGS };
    await expect(fragile.compile(request)).rejects.toThrow('SIGKILL');
    expect(await fragile.compile(request)).toMatchObject({ ok: true });
    await fragile.close();
    rmSync(folder, { recursive: true });
  });

  it('shows a DAG file nothing of the control plane, not even what it was started with', async () => {
    process.env['SVC_SECRET_KEY'] = 'very secret';
    process.env['MY_DEPLOYMENT'] = 'dev';
    const fresh = createCompiler({ python: await pythonEnvironment() });
    const folder = mkdtempSync(join(tmpdir(), 'svc-dag-'));
    try {
      const text = 'import os\nprint("secret" in str(dict(os.environ)).lower(), os.environ["MY_DEPLOYMENT"])\n';
      writeFileSync(join(folder, 'dag.py'), text);
      const answer = await fresh.compile({ path: join(folder, 'dag.py'), dagsFolder: folder });
      expect(answer).toMatchObject({ ok: true, output: 'False dev\n' });
    } finally {
      delete process.env['SVC_SECRET_KEY'];
      delete process.env['MY_DEPLOYMENT'];
      rmSync(folder, { recursive: true });
      await fresh.close();
    }
  });

  it('fails what is open when the process says something that is not an answer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-python-'));
    writeFileSync(join(folder, 'python'), '#!/bin/sh\nread line; echo garbage; sleep 8 & wait\n', { mode: 0o755 });
    const babbling = createCompiler({ python: join(folder, 'python') });
    await expect(babbling.compile({ path: '/x.py', dagsFolder: '/' })).rejects.toThrow('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  it('says when its interpreter does not exist', async () => {
    const missing = createCompiler({ python: '/nonexistent/python' });
    await expect(missing.compile({ path: '/x.py', dagsFolder: '/' })).rejects.toThrow('ENOENT');
    await missing.close();
  });
});

describe('a cache', () => {
  it('answers for an unchanged file in the next process, and not after a module that it imports has changed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-dag-'));
    const path = join(folder, 'dag.py');
    const write = (name: string, text: string): void => {
      writeFileSync(join(folder, name), text);
      utimesSync(join(folder, name), 1, 1);
    };
    const python = await pythonEnvironment();
    const compile = async () => {
      const own = createCompiler({ python, cacheFolder: join(folder, '.kept') });
      return own.compile({ path, dagsFolder: folder }).finally(() => own.close());
    };
    try {
      write('helper.py', 'NAME = "one"\n');
      write('dag.py', 'import helper\nfrom airflow.sdk import DAG\nwith DAG("a", tags=[helper.NAME]): ...\n');
      const first = await compile();
      expect(first.dags[0]?.spec.dag.tags).toEqual(['one']);
      // The time that it took is that of the first, too.
      expect(await compile()).toEqual(first);
      write('helper.py', 'NAME = "two"\n');
      expect((await compile()).dags[0]?.spec.dag.tags).toEqual(['two']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
