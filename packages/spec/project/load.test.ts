import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadProject } from './load.ts';
import type { LoadedProject } from './load.ts';

const problemsOf = (text: string) => {
  const loaded = loadProject(text, 'my_project');
  return loaded.ok ? [] : loaded.problems.map((problem) => `${problem.line}:${problem.column} ${problem.message}`);
};

function projectOf(text: string): Extract<LoadedProject, { ok: true }> {
  const loaded = loadProject(text, 'my_project');
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => problem.message).join('; '));
  return loaded;
}

describe('an empty or absent svc.yaml', () => {
  it('has every default of the table, and the name of its directory', () => {
    expect(projectOf('').project).toEqual({
      schema_version: '1.0',
      dag_id: 'my_project',
      python_version: '3.11',
      dependencies: [],
      connectors: [],
      system_packages: [],
      dag_source: 'dag.py',
      include_paths: ['.'],
      exclude_paths: ['.git', '__pycache__', '*.pyc', '.venv', 'venv'],
      build: { context: '.', platforms: ['linux/amd64'] },
      registry: { auth_method: 'docker_config', tag_strategy: 'version' },
      staging: { enabled: false },
    });
  });

  it('fills zero values with defaults, also inside objects', () => {
    const text =
      'dag_id: ""\npython_version:\nexclude_paths: []\nbuild: { platforms: [] }\nregistry: {}\nstaging: { size: "" , enabled: true }\n';
    expect(projectOf(text).project).toMatchObject({
      dag_id: 'my_project',
      python_version: '3.11',
      exclude_paths: ['.git', '__pycache__', '*.pyc', '.venv', 'venv'],
      build: { platforms: ['linux/amd64'] },
      staging: { enabled: true },
    });
    expect(projectOf(text).project.staging).not.toHaveProperty('size');
  });

  it('in a directory whose name cannot be a DAG id says so', () => {
    const loaded = loadProject('', 'my project!');
    expect(loaded).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('dag_id is "my project!"') }],
    });
  });
});

describe('errors name the place', () => {
  it('of an unknown key, with the nearest real one', () => {
    expect(problemsOf('dag_id: a\npython_verison: "3.12"\n')).toEqual([
      '2:1 unknown key python_verison: did you mean python_version?',
    ]);
    expect(problemsOf('tasks:\n  load:\n    retires: 3\n')).toEqual([
      '3:5 unknown key tasks.load.retires: did you mean retries?',
    ]);
    expect(problemsOf('build: { platfroms: [] }')).toEqual([
      '1:10 unknown key build.platfroms: did you mean platforms?',
    ]);
    expect(problemsOf('zzzzzzzzzz: 1')[0]).toMatch(/^1:1 unknown key zzzzzzzzzz; known here: schema_version, dag_id, /);
  });

  it('of a wrong type, a wrong value and a duplicate key', () => {
    expect(problemsOf('tags: nightly')).toEqual(['1:1 tags must be array, not "nightly"']);
    expect(problemsOf('python_version: "3.9"')[0]).toBe('1:1 python_version is "3.9"; allowed: 3.10, 3.11, 3.12, 3.13');
    expect(problemsOf('dag_id: a\ndag_id: b')[0]).toBe('2:1 the key "dag_id" is written twice: the first is on line 1');
    expect(problemsOf('- a\n- b')).toEqual(['1:1 svc.yaml must be a map of keys, such as "dag_id: my_dag"']);
    expect(problemsOf('schema_version: "2.0"')[0]).toMatch(/^1:1 schema_version is "2.0"/);
  });

  it('all at once, in the order of the file', () => {
    const problems = problemsOf('dag_id: "a b"\nnope: 1\ndependencies: [3]\n');
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['1:1', '2:1', '3:16']);
  });

  it('and an alias bomb or arbitrary text is an error, never a crash', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdef'[index]}`).join(',')}]`).join('\n')}`;
    expect(loadProject(bomb, 'p').ok).toBe(false);
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        (text) => typeof loadProject(text, 'p').ok === 'boolean',
      ),
    );
  });
});

describe('rules', () => {
  it('refuse a dependency with a line break, in any of its forms', () => {
    for (const lineBreak of ['\\n', '\\r', '\\u2028', '\\u0085']) {
      expect(problemsOf(`dependencies: ["requests${lineBreak}RUN id"]`)).toEqual([
        '1:16 dependencies.0 must not contain a line break',
      ]);
    }
  });

  it('keep any other dependency as it was written', () => {
    const entries = [
      'requests>=2; python_version < "3.13"',
      '--index-url',
      'a && rm -rf /',
      '$(id)',
      'pkg[extra]~=1.0',
      "it's",
    ];
    expect(projectOf(JSON.stringify({ dependencies: entries })).project.dependencies).toEqual(entries);
  });

  it('take an unquoted version as it was written: 3.10 is not 3.1', () => {
    expect(projectOf('python_version: 3.10\nschema_version: 1.0').project).toMatchObject({
      python_version: '3.10',
      schema_version: '1.0',
    });
  });

  it('refuse a dag_source outside the project', () => {
    for (const path of ['../dag.py', '/etc/passwd', 'a/../../b.py', 'a\\b.py'])
      expect(problemsOf(JSON.stringify({ dag_source: path }))).toHaveLength(1);
    expect(projectOf('dag_source: dags/..hidden.py').project.dag_source).toBe('dags/..hidden.py');
  });

  it('keep the platform’s own environment names from authors', () => {
    expect(problemsOf('tasks: { load: { env: { SVC_SECRETS_BACKEND: x } } }')[0]).toContain(
      'not a name an author may set',
    );
    expect(problemsOf('tasks: { load: { env: { "A B": x } } }')).toHaveLength(1);
    expect(projectOf('tasks: { load: { env: { REGION: eu } } }').project.tasks).toEqual({
      load: { env: { REGION: 'eu' } },
    });
  });

  it('refuse an unknown connector and name the nearest', () => {
    expect(problemsOf('connectors: [postgre]')[0]).toContain('did you mean postgres?');
  });
});

describe('the warning for Python 3.10', () => {
  const warnings = (text: string) => projectOf(text).warnings.map((warning) => warning.message);

  it('tells a project that chose the line to choose a later one', () => {
    expect(warnings('python_version: "3.10"')).toEqual([
      expect.stringContaining('Set python_version to 3.11 or later and rebuild'),
    ]);
    expect(warnings('python_version: "3.11"')).toEqual([]);
  });

  it('tells a project that pinned the image to repoint it, because python_version is not consulted', () => {
    for (const image of [
      'base:3.10',
      'registry.example.com:5000/svc/base:3.10-slim',
      'base:py3.10',
      'base:3.10.14@sha256:abc',
    ]) {
      expect(warnings(`base_image: ${image}\npython_version: "3.12"`)).toEqual([
        expect.stringContaining('Repoint base_image to the matching 3.11 tag'),
      ]);
    }
    for (const image of ['base:3.11', 'base:13.10', 'base:3.100', 'registry.example.com:3.10/base', 'base:1.3.10']) {
      expect(warnings(`base_image: ${image}\npython_version: "3.10"`)).toEqual([]);
    }
  });

  it('stands beside warnings for keys that have no effect', () => {
    expect(warnings('include_paths: [src]\nbuild: { context: .. }')).toHaveLength(2);
  });
});
