/** Every file of a workspace that svc reads has limits; one above them is an error that names the file, the limit and what to do. */
import { strToU8, zipSync } from 'fflate';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { readHere } from './workspace-reader.ts';

const DAG = 'from airflow.sdk import DAG\nDAG("a")\n';
const KIB = 1024;

async function problemsOf(files: Record<string, string>) {
  const [unit] = await readHere.units(workspaceOf({ 'dags/a.py': DAG, 'airflow.cfg': '', ...files }));
  return unit?.repository?.problems.map(({ file, line, message, instead }) => [file, line, message, instead]);
}

describe('a file above a limit keeps its repository from being compiled, and says why', () => {
  it.each([
    ['requirements.txt', '#'.repeat(2 * KIB * KIB), null, 'is too large: it has 2 MiB, and the limit is 1 MiB'],
    ['requirements.txt', 'a\n'.repeat(5_001), 5_001, 'has more than 5,000 entries, which is the limit'],
    ['requirements.txt', `\n${'a'.repeat(33 * KIB)}`, 2, 'has a line of 33,792 characters, and the limit is 32,768'],
    ['requirements.txt', 'a \\\n'.repeat(4_999) + 'b'.repeat(30_000), 1, 'has an entry of more than 32,768 characters'],
    ['constraints.txt', 'a\n'.repeat(5_001), 5_001, 'has more than 5,000 entries'],
    ['pyproject.toml', `a = ${'['.repeat(51)}`, 1, 'is nested too deeply: lists and maps may be nested 50 levels deep'],
    ['pyproject.toml', `\na = [${'1,'.repeat(5_001)}]`, 2, 'has more than 5,000 keys and items, which is the limit'],
    ['pyproject.toml', ' '.repeat(257 * KIB), null, 'is too large: it has 257 KiB, and the limit is 256 KiB'],
    ['packages.txt', 'a '.repeat(33 * KIB), null, 'is too large: it has 66 KiB, and the limit is 64 KiB'],
    ['Dockerfile', 'USER a\n'.repeat(2_001), 2_001, 'has more than 2,000 entries, which is the limit'],
    [
      'Dockerfile',
      `FROM apache/airflow\nENV A=${'a'.repeat(1_000)}\n${'ENV A=$A$A$A$A\n'.repeat(20)}`,
      null,
      'grows by more than 1 MiB, which is the limit, when variables such as A are replaced',
    ],
    ['airflow.cfg', ' '.repeat(2 * KIB * KIB), null, 'is too large: it has 2 MiB, and the limit is 1 MiB'],
    ['.env', 'A=1\n'.repeat(66 * KIB), null, 'is too large: it has 264 KiB, and the limit is 256 KiB'],
    ['svc.yaml', `owner: ${'x'.repeat(70 * KIB)}`, null, 'is too large: it has 70.0 KiB, and the limit is 64 KiB'],
    ['svc.yaml', '['.repeat(60), 1, 'is nested too deeply'],
    ['dags/.airflowignore', 'a\n'.repeat(1_001), 1_001, 'has more than 1,000 entries, which is the limit'],
    ['dags/.airflowignore', `\n${'a'.repeat(1_001)}`, 2, 'has a line of 1,001 characters, and the limit is 1,000'],
    ['dags/.airflowignore', '*a*a*a*a*a*', 1, 'has a pattern with more than 4 * between two slashes'],
  ])('%s', async (file, text, line, message) => {
    expect(await problemsOf({ [file]: text })).toEqual([
      [file, line, expect.stringContaining(message), expect.stringMatching(/^[A-Z].{10,}/)],
    ]);
  });

  it('requirements that include each other in a long chain', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [n === 0 ? 'requirements.txt' : `r${n}.txt`, `-r r${n + 1}.txt\n`]),
    );
    expect(await problemsOf(chain)).toEqual([
      ['r50.txt', null, 'has more than 50 files that include each other, which is the limit', expect.any(String)],
    ]);
  });

  it('with a rule file above its limit no file is forgotten, so that no DAG is taken for removed', async () => {
    const files = { 'dags/sub/.airflowignore': 'a\n'.repeat(1_001), 'dags/sub/b.py': DAG };
    const units = await readHere.units(workspaceOf({ 'dags/a.py': DAG, 'airflow.cfg': '', ...files }));
    expect(units.map(({ name }) => name)).toEqual(['dags/a.py', 'dags/sub/b.py']);
    for (const { repository } of units)
      expect(repository?.problems).toMatchObject([{ file: 'dags/sub/.airflowignore' }]);
  });
});

describe('a zip of DAG files', () => {
  it.each([
    ['that unpacks to more than its limit', 9, 'has more than 32 MiB of Python files at its root'],
    ['of too many files', 10_001, 'has more than 10,000 files, which is the limit'],
  ])('%s is refused alone, and the rest is compiled', async (_what, count, message) => {
    const root = workspaceOf({ 'dags/a.py': DAG, 'airflow.cfg': '' });
    const content = strToU8(count > 100 ? '' : ' '.repeat(4 * KIB * KIB));
    const files = Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}.py`, content]));
    writeFileSync(join(root, 'dags/b.zip'), zipSync(files, { level: 1 }));
    const units = await readHere.units(root);
    expect(units.map(({ name, repository }) => [name, repository?.problems.map((problem) => problem.message)])).toEqual(
      [
        ['dags/a.py', []],
        ['dags/b.zip', [expect.stringContaining(message)]],
      ],
    );
  });

  it('whose file says that it is smaller than it is takes no more than it says', async () => {
    const root = workspaceOf({ 'dags/a.py': DAG, 'airflow.cfg': '' });
    const zip = zipSync({ 'dag.py': strToU8(DAG + '#'.repeat(3 * KIB * KIB)) });
    const directory = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength);
    const entry = directory.lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2]));
    directory.writeUInt32LE(10, entry + 24);
    writeFileSync(join(root, 'dags/b.zip'), directory);
    // As any zip that cannot be read: compiling it says so.
    expect((await readHere.units(root)).map(({ name }) => name)).toEqual(['dags/a.py', 'dags/b.zip']);
  });
});
