/** The compiler from the outside: every file of the corpus becomes a valid spec, the same one every time. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '../../../scripts/python-env.ts';
import { canonicalHash } from '../canonical.ts';
import { validateSpec } from '../validate.ts';
import { createCompiler, type Compiler } from './compiler.ts';

const DAGS = resolve(import.meta.dirname, '../../../python/tests/dags');
const OWN = resolve(import.meta.dirname, '../../../python/tests/dags_own');
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
        expect(await hashes(other), name).toEqual(await hashes(compiler));
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
  it('starts again after its process was killed, and fails what was open instead of hanging', async () => {
    const fragile = createCompiler({ python: await pythonEnvironment() });
    const slow = fragile.compile({ path: join(DAGS, 'groups.py'), dagsFolder: DAGS });
    await slow;
    const text = 'import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n';
    const folder = mkdtempSync(join(tmpdir(), 'svc-dag-'));
    writeFileSync(join(folder, 'dag.py'), text);
    await expect(fragile.compile({ path: join(folder, 'dag.py'), dagsFolder: folder })).rejects.toThrow('SIGKILL');
    expect(await fragile.compile({ path: join(DAGS, 'groups.py'), dagsFolder: DAGS })).toMatchObject({ ok: true });
    rmSync(folder, { recursive: true });
    await fragile.close();
  });

  it('says when its interpreter does not exist', async () => {
    const missing = createCompiler({ python: '/nonexistent/python' });
    await expect(missing.compile({ path: '/x.py', dagsFolder: '/' })).rejects.toThrow('ENOENT');
    await missing.close();
  });
});
