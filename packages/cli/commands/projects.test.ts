/** `svc init`, `validate` and `compile`, on real directories with the real compiler. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { dagText, workspaceOf, writeFiles } from '@svc/testing/compiler/workspace.ts';
import { canonicalJson } from '@svc/spec/canonical.ts';
import { validateSpec } from '@svc/spec/validate.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { TEMPLATES } from '../projects/template-names.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';

let env: Record<string, string>;
beforeAll(async () => {
  env = { SVC_PYTHON: await pythonEnvironment(), PATH: process.env['PATH'] ?? '' };
});

const svc = (...argv: string[]) => runSvc(argv, { env });

describe('svc init', () => {
  // dbt compiles where dbt is: packages/testing/dbt/dbt-projects.services.test.ts.
  it.each(TEMPLATES.filter((name) => name !== 'dbt'))(
    'makes a project from the template %s that compiles without a warning',
    async (template) => {
      const root = workspaceOf({});
      const made = await svc('init', join(root, 'my_dag'), '--template', template);
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(made.stdout).toMatch(/Next:\n {2}svc validate .*my_dag/);
      expect(readdirSync(join(root, 'my_dag')).sort()).toEqual(
        expect.arrayContaining(['.github', '.gitignore', '.vscode', 'dag.py', 'svc.yaml', 'tests']),
      );
      const checked = await svc('validate', join(root, 'my_dag'), '--json');
      const { units } = JSON.parse(checked.stdout) as { units: object[] };
      expect(units).toMatchObject([{ ok: true, dags: [{ dag_id: 'my_dag' }], warnings: [] }]);
    },
  );

  it('makes a dbt project with --dbt, whose name dbt takes', async () => {
    const root = workspaceOf({});
    expect(await svc('init', join(root, '2-shops'), '--dbt')).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(join(root, '2-shops'), { recursive: true }).sort()).toEqual(
      expect.arrayContaining(['dbt_project.yml', 'models/marts/revenue.sql', 'profiles.yml', 'svc.yaml']),
    );
    expect(readFileSync(join(root, '2-shops/dbt_project.yml'), 'utf8')).toContain('name: dbt_2_shops\n');
  });

  it('never overwrites: a dag.py that is there becomes part of the project as it is', async () => {
    const root = workspaceOf({ 'etl/dag.py': dagText('etl') });
    const { code, stdout } = await svc('init', join(root, 'etl'));
    expect(code).toBe(0);
    expect(stdout).toContain('Kept what was there: dag.py');
    expect(readFileSync(join(root, 'etl/dag.py'), 'utf8')).toBe(dagText('etl'));
  });

  it('refuses a directory that is a project already, and one whose name is no DAG id', async () => {
    const root = workspaceOf({ 'etl/svc.yaml': 'owner: me\n' });
    expect(await svc('init', join(root, 'etl'))).toMatchObject({ code: 1, stderr: expect.stringContaining('already') });
    expect(readdirSync(join(root, 'etl'))).toEqual(['svc.yaml']);
    expect(await svc('init', join(root, '…'))).toMatchObject({ code: 2, stderr: expect.stringContaining('DAG id') });
  });

  it('makes an id from any other name, and a file in the way is told', async () => {
    const root = workspaceOf({ occupied: '' });
    await svc('init', join(root, "my 'first' dag"));
    expect((await svc('validate', join(root, "my 'first' dag"))).code).toBe(0);
    expect(await svc('init', join(root, 'occupied'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be written'),
    });
  });
});

describe('svc validate', () => {
  it('prints problems as compilers do, each with its place, and ends with 1', async () => {
    const root = workspaceOf({
      'bad_key/svc.yaml': 'owner: me\nretriess: 3\n',
      'bad_task/svc.yaml': 'tasks:\n  laod: { retries: 2 }\n',
      'bad_task/dag.py': dagText('bad_task'),
      'fine/dag.py': dagText('fine'),
      'typo.py': 'from airflow.sdk import DAG\nwith DAG("typo")\n',
    });
    const { code, stdout, stderr } = await svc('validate', root);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^${root}/bad_key/svc\\.yaml:2:1: error: unknown key retriess`)),
      expect.stringMatching(/bad_task\/svc\.yaml:2:3: error: tasks\.laod: .*did you mean load\?$/),
      expect.stringMatching(/typo\.py:2: error: expected ':'$/),
      '    with DAG("typo")',
      '                    ^',
      'svc: 3 problems in 3 of 4 places',
      '',
    ]);
  });

  it('warns of Python 3.10 with the fix for each road to it, and ends with 0', async () => {
    const root = workspaceOf({
      'line/svc.yaml': 'python_version: 3.10',
      'line/dag.py': dagText('line'),
      'pinned/svc.yaml': 'base_image: registry.example.com/base:3.10-2',
      'pinned/dag.py': dagText('pinned'),
    });
    const { code, stdout, stderr } = await svc('validate', root);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2 DAGs with 4 tasks: no problems.\n' });
    expect(stderr).toMatch(/line\/svc\.yaml:1:1: warning: python_version 3\.10.*Set python_version to 3\.11 or later/);
    expect(stderr).toMatch(/pinned\/svc\.yaml:1:1: warning: base_image .*Repoint base_image to the matching 3\.11 tag/);
  });

  it('refuses one DAG id in two places, in projects and in plain folders', async () => {
    const root = workspaceOf({ 'a/dag.py': dagText('a'), 'b/svc.yaml': 'dag_id: a', 'b/dag.py': dagText('a') });
    expect((await svc('validate', root)).stderr).toContain('the DAG id "a" is claimed by a and b');
    const plain = workspaceOf({ 'x.py': dagText('same'), 'y.py': dagText('same') });
    const { code, stderr } = await svc('validate', plain);
    expect(code).toBe(1);
    expect(stderr.match(/claimed by x\.py and y\.py/g)).toHaveLength(2);
  });

  it('takes one file, a svc.yaml and a project for what they are', async () => {
    const root = workspaceOf({ 'etl/dag.py': dagText('etl'), 'one.py': dagText('one', ['a', 'b', 'c']) });
    expect((await svc('validate', join(root, 'one.py'))).stdout).toBe('1 DAG with 3 tasks: no problems.\n');
    expect((await svc('validate', join(root, 'etl/dag.py'))).stdout).toBe('1 DAG with 2 tasks: no problems.\n');
    expect((await svc('validate', join(root, 'etl'))).code).toBe(0);
  });

  it('tells a path that is not there and a workspace without DAGs, each with what to do', async () => {
    const root = workspaceOf({ 'readme.md': '' });
    expect(await svc('validate', join(root, 'nowhere'))).toMatchObject({ code: 4 });
    expect(await svc('validate', root)).toMatchObject({ code: 4, stderr: expect.stringContaining('svc init') });
    writeFiles(root, { 'lost.py': 'from airflow.sdk import dag\n@dag\ndef never_called(): pass\n' });
    expect(await svc('validate', root)).toMatchObject({ code: 4, stderr: expect.stringContaining('must be called') });
  });

  it('ends with links in a circle and names the file that cannot be read', async () => {
    const root = workspaceOf({ 'etl/dag.py': dagText('etl') });
    symlinkSync(root, join(root, 'again'));
    symlinkSync('loop.py', join(root, 'loop.py'));
    const { code, stderr } = await svc('validate', root);
    expect(code).toBe(1);
    expect(stderr).toMatch(/loop\.py: error: cannot be read/);
  });

  it('does not let a file drive the terminal through its own error', async () => {
    const root = workspaceOf({ 'evil.py': '# airflow dag\nraise ValueError("\\x1b]0;owned\\x07")\n' });
    const { stderr } = await svc('validate', root);
    expect(stderr).toContain(String.raw`\u001b]0;owned`);
    expect(stderr).not.toContain('\u001B]');
  });

  it('prints one JSON document with --json, also when there are problems', async () => {
    const root = workspaceOf({ 'etl/svc.yaml': 'owner: [1]\n', 'etl/dag.py': dagText('etl') });
    const { code, stdout } = await svc('validate', root, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      units: [{ name: 'etl', ok: false, problems: [{ file: join(root, 'etl/svc.yaml'), line: 1, column: 1 }] }],
    });
  });

  it('says what to do where there is no Python', async () => {
    const root = workspaceOf({ 'etl/dag.py': dagText('etl') });
    const outcome = await runSvc(['validate', root], { env: { PATH: '/nonexistent', XDG_CACHE_HOME: root } });
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringMatching(/Python 3\.10 or newer[\s\S]*SVC_PYTHON/) });
  });
});

describe('svc compile', () => {
  it('writes the canonical bytes, whose hash it prints; twice and elsewhere the same', async () => {
    const files = { 'etl/svc.yaml': 'owner: me', 'etl/dag.py': dagText('etl'), 'plain.py': dagText('plain.one') };
    const compiled = async () => {
      const root = workspaceOf(files);
      const { code, stdout } = await svc('compile', root, '-o', join(root, 'out'), '--json');
      expect(code).toBe(0);
      const { dags } = JSON.parse(stdout) as {
        dags: { dag_id: string; sha256: string; file: string; bytes: number }[];
      };
      return dags.map((dag) => ({ ...dag, name: basename(dag.file), content: readFileSync(dag.file, 'utf8') }));
    };
    const [first, second] = [await compiled(), await compiled()];
    expect(first.map(({ name }) => name)).toEqual(['etl.spec.json', 'plain.one.spec.json']);
    expect(second.map(({ content }) => content)).toEqual(first.map(({ content }) => content));
    for (const { content, sha256, bytes } of first) {
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
      expect(Buffer.byteLength(content)).toBe(bytes);
      const spec: unknown = JSON.parse(content);
      expect(canonicalJson(spec)).toBe(content);
      expect(validateSpec(spec)).toEqual([]);
    }
  });

  it('prints a table, warns, writes what compiles and ends with 1 when something does not', async () => {
    const root = workspaceOf({
      'good/svc.yaml': 'python_version: 3.10',
      'good/dag.py': dagText('good'),
      'bad/dag.py': '(',
    });
    const { code, stdout, stderr } = await svc('compile', root, '-o', join(root, 'out'));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^DAG +TASKS +SCHEDULE +SHA256 +SIZE +TIME +FILE\ngood +2 +- +[0-9a-f]{12} /);
    expect(stderr).toMatch(/bad\/dag\.py:1: error: [\s\S]*python_version 3\.10 is deprecated/);
    expect(readdirSync(join(root, 'out'))).toEqual(['good.spec.json']);
  });

  it('prints specs with "-o -", one per line, and nothing else on standard output', async () => {
    const root = workspaceOf({ 'a.py': dagText('a'), 'b.py': dagText('b') });
    const { code, stdout } = await svc('compile', root, '-o', '-');
    expect(code).toBe(0);
    const ids = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { dag: { dag_id: string } }).dag.dag_id);
    expect(ids).toEqual(['a', 'b']);
    expect((await svc('compile', root, '-o', '-', '--json')).code).toBe(2);
  });

  it('says where it cannot write', async () => {
    const root = workspaceOf({ 'a.py': dagText('a'), file: '' });
    const { code, stderr } = await svc('compile', root, '-o', join(root, 'file'));
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/cannot be written[\s\S]*-o/) });
  });

  it('leaves nothing beside the files of the author', async () => {
    const root = workspaceOf({ 'names.py': 'ID = "x"', 'etl.py': `from names import ID\n${dagText('etl')}` });
    mkdirSync(join(root, 'out'));
    expect((await svc('compile', root, '-o', join(root, 'out'))).code).toBe(0);
    expect(readdirSync(root).sort()).toEqual(['etl.py', 'names.py', 'out']);
  });
});

describe('as a process', () => {
  it('ends with the documented exit codes: 0, 1, 2 and 4', async () => {
    const root = workspaceOf({ 'good/dag.py': dagText('good'), 'bad/dag.py': '(' });
    writeFileSync(join(root, 'empty.txt'), '');
    const codes = await Promise.all(
      [
        ['validate', join(root, 'good')],
        ['validate', root],
        ['validate', '--no-such-option'],
        ['validate', join(root, 'nowhere')],
      ].map((argv) => spawnSvc(argv, env).ended),
    );
    expect(codes).toEqual([0, 1, 2, 4]);
  });
});
