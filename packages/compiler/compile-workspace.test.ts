import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '@svc/spec/canonical.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import type { CompiledUnit } from './compile-unit.ts';
import { compileWorkspace } from './compile-workspace.ts';
import { createCompilerPool } from './compiler-pool.ts';
import { createCompiler } from './compiler.ts';
import type { Compiler } from './compiler.ts';
import { dagText, workspaceOf } from '@svc/testing/compiler/workspace.ts';

let compiler: Compiler;
beforeAll(async () => {
  compiler = createCompiler({ python: await pythonEnvironment(), jobs: 2 });
});
afterAll(() => compiler.close());

const compile = (files: Record<string, string>) => compileWorkspace({ workspace: workspaceOf(files), compiler });
const only = async (files: Record<string, string>): Promise<CompiledUnit> => {
  const [unit] = await compile(files);
  if (!unit) throw new Error('nothing was found');
  return unit;
};
const artifactsOf = (unit: CompiledUnit) => {
  if (!unit.ok) throw new Error(JSON.stringify(unit.problems));
  return unit.artifacts;
};
const problemsOf = (unit: CompiledUnit) => (unit.ok ? [] : unit.problems);

const TWO_DAGS = `${dagText('first', ['a'])}\n${dagText('second', ['b'])}`;

describe('a project', () => {
  it('is named by svc.yaml, then by its directory, and says so when its file says otherwise', async () => {
    const [bare, named] = await compile({
      'bare/dag.py': dagText('in_the_file'),
      'other/svc.yaml': 'dag_id: by_svc_yaml',
      'other/dag.py': dagText('by_svc_yaml'),
    });
    expect(bare && artifactsOf(bare).map(({ dagId }) => dagId)).toEqual(['bare']);
    expect(bare?.warnings.map(({ message }) => message).join()).toMatch(/names its DAG "in_the_file".*as "bare"/);
    expect(named).toMatchObject({ ok: true, warnings: [], artifacts: [{ dagId: 'by_svc_yaml' }] });
  });

  it('tells an override of a task that does not exist with its line and column, and what was meant', async () => {
    const unit = await only({
      'etl/svc.yaml': 'owner: me\ntasks:\n  extract: { retries: 1 }\n  laod: { retries: 2 }\n',
      'etl/dag.py': dagText('etl'),
    });
    expect(problemsOf(unit)).toMatchObject([
      { file: 'svc.yaml', line: 4, column: 3, message: expect.stringMatching(/tasks\.laod.*did you mean load/) },
    ]);
  });

  it('tells what is wrong with a dbt group of svc.yaml there, also without a DAG file', async () => {
    const unit = await only({ 'shop/svc.yaml': 'owner: me\ndbt:\n  project_dir: transform\n' });
    expect(problemsOf(unit)).toMatchObject([
      { file: 'svc.yaml', line: 2, message: expect.stringMatching(/^dbt: there is no dbt project in transform/) },
    ]);
  });

  it('lets what the file says stand before the defaults, however it says it', async () => {
    const file = `
from datetime import timedelta
from airflow.sdk import DAG, task
from airflow.providers.standard.operators.bash import BashOperator

with DAG('etl', default_args={'execution_timeout': timedelta(seconds=9)}):
    BashOperator(task_id='silent', bash_command='true')
    BashOperator(task_id='zero', bash_command='true', retries=0)
    BashOperator.partial(task_id='mapped', retry_delay=timedelta(seconds=300)).expand(bash_command=['true'])
    later = BashOperator(task_id='later', bash_command='true')
    later.retries = 2

    @task(retries=0)
    def decorated(): ...

    decorated()
`;
    const defaults = '{ retries: 3, retry_delay_seconds: 1, execution_timeout_seconds: 60 }';
    const unit = await only({ 'etl/svc.yaml': `defaults: ${defaults}`, 'etl/dag.py': file });
    const tasks = unit.ok ? (unit.artifacts[0]?.spec.tasks ?? []) : [];
    expect(
      Object.fromEntries(
        tasks.map(({ task_id, policy }) => [task_id, [policy.retries, policy.retry_delay, policy.execution_timeout]]),
      ),
    ).toEqual({
      silent: [3, 1, 9],
      zero: [0, 1, 9],
      mapped: [3, 300, 9],
      later: [2, 1, 9],
      decorated: [0, 1, 9],
    });
  });

  it('lays svc.yaml over the DAG', async () => {
    const unit = await only({
      'etl/svc.yaml': 'owner: me\ndefaults: { retries: 3 }\ntasks:\n  load: { retries: 5, env: { MODE: fast } }\n',
      'etl/dag.py': dagText('etl'),
    });
    const tasks = artifactsOf(unit)[0]?.spec.tasks ?? [];
    expect(tasks.map(({ task_id, policy, env }) => [task_id, policy.retries, policy.owner, env])).toEqual([
      ['extract', 3, 'me', {}],
      ['load', 5, 'me', { MODE: 'fast' }],
    ]);
  });

  it.each([
    ['python_version: "3.10"', /^python_version 3\.10.*Set python_version to 3\.11 or later and rebuild/],
    ['base_image: registry.example.com/base:3.10', /^base_image .*Repoint base_image to the matching 3\.11 tag/],
  ])('on Python 3.10 through %s compiles with a warning that names the fix', async (line, warning) => {
    const unit = await only({ 'etl/svc.yaml': `owner: me\n${line}\n`, 'etl/dag.py': dagText('etl') });
    expect(unit).toMatchObject({
      ok: true,
      warnings: [{ file: 'svc.yaml', line: 2, column: 1, message: expect.stringMatching(warning) }],
    });
  });

  it('with several DAGs keeps their ids, and overrides go to the one that is named', async () => {
    const named = await only({
      'etl/svc.yaml': 'dag_id: second\ntasks: { b: { retries: 4 } }\ntags: [both]',
      'etl/dag.py': TWO_DAGS,
    });
    expect(artifactsOf(named).map(({ dagId, spec }) => [dagId, spec.tasks[0]?.policy.retries, spec.dag.tags])).toEqual([
      ['first', 0, ['both']],
      ['second', 4, ['both']],
    ]);
    const unnamed = await only({ 'etl/svc.yaml': 'owner: me\ntasks: { b: {} }', 'etl/dag.py': TWO_DAGS });
    expect(problemsOf(unnamed)).toMatchObject([{ line: 2, column: 1, message: expect.stringContaining('2 DAGs') }]);
  });

  it('without a DAG, or whose file is missing, is a problem of that file', async () => {
    const [empty, missing] = await compile({
      'empty/dag.py': 'x = 1',
      'missing/svc.yaml': 'dag_source: main.py',
    });
    expect(empty && problemsOf(empty)).toMatchObject([{ file: 'dag.py', message: 'the file defines no DAG' }]);
    expect(missing && problemsOf(missing)).toMatchObject([
      { file: 'main.py', message: expect.stringContaining('No such file') },
    ]);
  });

  it('that is broken leaves the others alone: bad YAML, a directory for a file, a link in a circle, a typo', async () => {
    const root = workspaceOf({
      'bad_yaml/svc.yaml': 'tags: [a\nowner: b: c',
      'bad_yaml/dag.py': dagText('bad_yaml'),
      'circle/dag.py': dagText('circle'),
      'folder/dag.py': dagText('folder'),
      'fine/dag.py': dagText('fine'),
      'typo/dag.py': 'from airflow.sdk import DAG\nwith DAG("typo")\n',
      'unknown/svc.yaml': 'dag_sorce: x.py',
      'unknown/dag.py': dagText('unknown'),
    });
    mkdirSync(join(root, 'folder/svc.yaml'));
    symlinkSync('svc.yaml', join(root, 'circle/svc.yaml'));
    const result = await compileWorkspace({ workspace: root, compiler });
    const told = result.map((unit) => [unit.unit.name, problemsOf(unit).map(({ file, line }) => `${file}:${line}`)[0]]);
    expect(told).toEqual([
      ['bad_yaml', expect.stringMatching(/^svc\.yaml:\d/)],
      ['circle', 'svc.yaml:null'],
      ['fine', undefined],
      ['folder', 'svc.yaml:null'],
      ['typo', 'dag.py:2'],
      ['unknown', 'svc.yaml:1'],
    ]);
  });

  it('whose svc.yaml cannot be loaded is still filed under its own DAG and file', async () => {
    const unit = await only({
      'etl/svc.yaml': 'dag_id: sales # here\ndag_source: "main.py"\nretires: 3',
      'etl/main.py': '',
    });
    expect(unit).toMatchObject({ ok: false, bundleName: 'sales', source: 'main.py' });
  });

  it('in a directory whose name cannot be an id is told to choose one', async () => {
    const [named, unnamed] = await compile({
      'my dag/dag.py': dagText('x'),
      'a dag/svc.yaml': 'dag_id: "no no"',
      'a dag/dag.py': dagText('x'),
    });
    expect(named && problemsOf(named)).toMatchObject([{ line: 1, column: 1, instead: '' }]);
    expect(unnamed && problemsOf(unnamed)).toMatchObject([
      { instead: expect.stringContaining('set dag_id in svc.yaml') },
    ]);
  });

  it('warns of DAG files beside dag.py that nobody compiles', async () => {
    const unit = await only({ 'etl/dag.py': dagText('etl'), 'etl/second.py': dagText('second') });
    expect(unit.warnings.map(({ message }) => message).join()).toContain('second.py is not compiled');
  });
});

describe('a plain folder of DAG files', () => {
  it('needs no svc.yaml, keeps the ids of the files, and takes several DAGs or none from a file', async () => {
    const units = await compile({
      'one.py': dagText('one.with-dots'),
      'sub/two.py': TWO_DAGS,
      'helper.py': '"""Helps DAG files of Airflow."""',
    });
    expect(units.map((unit) => [unit.source, unit.bundleName, artifactsOf(unit).map(({ dagId }) => dagId)])).toEqual([
      ['helper.py', 'dags-folder', []],
      ['one.py', 'dags-folder', ['one.with-dots']],
      ['sub/two.py', 'dags-folder', ['first', 'second']],
    ]);
  });

  it('can import modules that lie beside the files', async () => {
    const [unit] = await compile({
      'names.py': 'ID = "imported"',
      'use.py': `from names import ID\n${dagText('x').replace('"x"', 'ID')}`,
    });
    expect(unit && artifactsOf(unit)[0]?.dagId).toBe('imported');
  });
});

describe('one DAG id in two places', () => {
  it('is refused in both, and only there, when projects claim it', async () => {
    const units = await compile({
      'a/svc.yaml': 'dag_id: same',
      'a/dag.py': dagText('same'),
      'b/same/dag.py': dagText('same'),
      'c/dag.py': dagText('c'),
    });
    expect(units.map((unit) => [unit.unit.name, problemsOf(unit).map(({ message }) => message)])).toEqual([
      ['a', ['the DAG id "same" is claimed by a and b/same']],
      ['b/same', ['the DAG id "same" is claimed by a and b/same']],
      ['c', []],
    ]);
  });

  it('is refused between plain files, and between a file and a project', async () => {
    const units = await compile({
      'one.py': dagText('same'),
      'two.py': dagText('same'),
      'same/dag.py': dagText('same'),
    });
    expect(units.map((unit) => unit.ok)).toEqual([false, false, false]);
    expect(problemsOf(units[0] as CompiledUnit)[0]?.message).toContain('one.py and same and two.py');
  });

  it('belongs to the last file of a repository, as on Airflow, with a warning that names all files', async () => {
    const files = {
      'requirements.txt': '',
      'dags/b.py': `${dagText('same')}\n${dagText('own')}`,
      'dags/a.py': dagText('same'),
      'dags/c/d.py': dagText('same'),
    };
    const units = await compile(files);
    expect(units.map((unit) => [unit.source, artifactsOf(unit).map(({ dagId }) => dagId)])).toEqual([
      ['dags/a.py', []],
      ['dags/b.py', ['own']],
      ['dags/c/d.py', ['same']],
    ]);
    const said = 'the DAG id "same" is claimed by dags/a.py and dags/b.py and dags/c/d.py: dags/c/d.py wins';
    for (const unit of units) expect(unit.warnings.at(-1)?.message).toContain(said);
    const strict = await compileWorkspace({ workspace: workspaceOf(files), compiler, isStrict: true });
    expect(strict.map((unit) => problemsOf(unit).length)).toEqual([1, 1, 1]);
  });

  it('cannot be taken over while its first owner is broken', async () => {
    const units = await compile({ 'a/same/dag.py': 'from airflow import (', 'b/same/dag.py': dagText('same') });
    expect(units.map((unit) => problemsOf(unit)[0]?.message)).toEqual([
      expect.not.stringContaining('claimed'),
      'the DAG id "same" is claimed by a/same and b/same',
    ]);
  });
});

describe('the artifact', () => {
  it('has the same bytes from another directory, another process and another time', async () => {
    const files = {
      'etl/svc.yaml': 'owner: me\ndependencies: [duckdb]\ntasks: { load: { resources: { cpu: 250m } } }',
      'etl/dag.py': `import os\n${dagText('etl')}    BashOperator(task_id="where", bash_command="cat " + os.path.abspath(__file__))\n`,
    };
    const bytes = async (using: Compiler) => {
      const root = workspaceOf(files);
      const [unit] = await compileWorkspace({ workspace: root, compiler: using });
      rmSync(root, { recursive: true });
      return canonicalJson(unit && artifactsOf(unit)[0]?.spec);
    };
    const other = createCompiler({ python: await pythonEnvironment() });
    try {
      const first = await bytes(compiler);
      expect(await bytes(compiler)).toBe(first);
      expect(await bytes(other)).toBe(first);
      expect(first).not.toContain('svc-workspace-');
    } finally {
      await other.close();
    }
  });

  it('cannot hold our own variables: tokens and keys are not in the environment of a DAG file', async () => {
    process.env['SVC_TOKEN'] = 'very-secret';
    const fresh = createCompiler({ python: await pythonEnvironment() });
    try {
      const text = `import os\n${dagText('leak').replace('"true"', 'str(sorted(os.environ.items()))')}`;
      const workspace = workspaceOf({ 'leak.py': text });
      const [unit] = await compileWorkspace({ workspace, compiler: fresh });
      const spec = canonicalJson(unit && artifactsOf(unit)[0]?.spec);
      expect(spec).toContain('PATH');
      expect(spec).not.toContain('very-secret');
    } finally {
      delete process.env['SVC_TOKEN'];
      await fresh.close();
    }
  });
});

describe('progress', () => {
  it('is told once per file, and counts to the end', async () => {
    const told: string[] = [];
    await compileWorkspace({
      workspace: workspaceOf({ 'a/dag.py': dagText('a'), 'b/dag.py': dagText('b') }),
      compiler,
      onProgress: ({ done, total }) => told.push(`${done}/${total}`),
    });
    expect(told).toEqual(['1/2', '2/2']);
  });
});

describe('what has to be installed', () => {
  const failing = (message: string): Compiler =>
    createCompilerPool({
      base: compiler,
      interpreters: { get: () => Promise.reject(new Error(message)), providers: () => Promise.resolve([]) },
      open: () => compiler,
    });

  it('and cannot be is told where it is asked for, in requirements and in svc.yaml', async () => {
    const workspace = workspaceOf({
      'repo/dags/a.py': dagText('a'),
      'repo/requirements.txt': '-r more.txt\n',
      'repo/more.txt': 'fine\nno-such==1\n',
      'etl/dag.py': dagText('etl'),
      'etl/svc.yaml': 'owner: me\ndependencies:\n  - fine\n  - no-such==1\n',
    });
    const message = 'installing no-such==1 failed: the package index has no such package';
    const [project, file] = await compileWorkspace({ workspace, compiler: failing(message) });
    expect(file && problemsOf(file)).toMatchObject([{ file: 'more.txt', line: 2, message }]);
    expect(project && problemsOf(project)).toMatchObject([{ file: 'svc.yaml', line: 4, message }]);
  });

  it('is nothing for a repository whose svc.yaml is wrong: that is told, for every file', async () => {
    const units = await compile({
      'repo/dags/a.py': dagText('a'),
      'repo/dags/b.py': dagText('b'),
      'repo/svc.yaml': 'owner: me\ntasks:\n  x: {}\n',
    });
    expect(units.map(problemsOf)).toMatchObject([
      [{ file: 'svc.yaml', message: expect.stringContaining('tasks') }],
      [{ file: 'svc.yaml' }],
    ]);
  });
});

describe('a repository', () => {
  it('lays its svc.yaml over every DAG, each under its own id', async () => {
    const [unit] = await compile({
      'repo/dags/a.py': TWO_DAGS,
      'repo/svc.yaml': 'owner: me\ntags: [shop]\ndefaults: { retries: 4 }\n',
    });
    expect(unit && artifactsOf(unit).map(({ spec }) => [spec.dag.dag_id, spec.dag.owners, spec.dag.tags])).toEqual([
      ['first', ['me'], ['shop']],
      ['second', ['me'], ['shop']],
    ]);
    expect(unit && artifactsOf(unit)[0]?.spec.tasks[0]?.policy.retries).toBe(4);
    expect(unit?.warnings).toEqual([]);
  });

  it('has installed packages before its own folders, as Airflow, and the same bytes wherever it lies', async () => {
    const files = {
      'repo/dags/a.py': `import os\nimport jinja2\nfrom team.words import WORD\nassert "site-packages" in jinja2.__file__\nhome = os.environ["AIRFLOW_HOME"]\nassert os.environ["AIRFLOW__CORE__DAGS_FOLDER"] == home + "/dags"\n${dagText('a')}`,
      'repo/dags/jinja2/__init__.py': '',
      'repo/dags/team/words.py': 'WORD = 1',
    };
    const texts = await Promise.all(
      [1, 2].map(async () => artifactsOf(await only(files)).map(({ spec }) => canonicalJson(spec))),
    );
    expect(texts[0]).toEqual(texts[1]);
  });
});

describe('a repository that an image has elsewhere', () => {
  it('loads files that import it by the name of its folder there, and that open files relative to it', async () => {
    const dag = `
import json
from pkg.plugins.helpers import ID
from pkg.include import words
with open("include/c.json") as file:
    owner = json.load(file)["owner"]
${dagText('any').replace('"any"', 'ID + words.END')}`;
    const unit = await only({
      'dags/team/a.py': dag,
      'plugins/helpers.py': 'ID = "from_"\n',
      'include/__init__.py': '',
      'include/words.py': 'END = "image"\n',
      'include/c.json': '{"owner": "me"}',
      'airflow.cfg': '[core]\ndags_folder = /opt/airflow/pkg/dags\n',
      Dockerfile: 'FROM apache/airflow:2.10.5\nENV PYTHONPATH=/opt/airflow/\nCOPY . /opt/airflow/pkg\n',
    });
    expect(artifactsOf(unit).map(({ dagId, spec }) => [dagId, spec.source.modules.map(({ path }) => path)])).toEqual([
      ['from_image', ['include/__init__.py', 'include/words.py', 'plugins/helpers.py']],
    ]);
  });
});
