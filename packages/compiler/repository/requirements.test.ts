import { describe, expect, it } from 'vitest';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { repositoryFiles } from './repository-files.ts';
import { poetryVersion } from './project-files.ts';
import { installList, readRequirements } from './requirements.ts';

const read = (files: Record<string, string>, ...names: string[]) => {
  const root = workspaceOf(files);
  return readRequirements(
    root,
    repositoryFiles(root),
    names.map((file) => ({ flags: [], items: [{ kind: 'requirements', file }] })),
  );
};
const requirements = (text: string, more: Record<string, string> = {}) =>
  read({ 'requirements.txt': text, ...more }, 'requirements.txt');
const told = (text: string) => requirements(text).notes.map(({ line, message }) => `${line}: ${message}`);

describe('a uv workspace', () => {
  const files = {
    'pyproject.toml':
      '[project]\nname = "flows"\ndependencies = ["loaders"]\n[tool.uv.sources]\ncommon = { workspace = true }\nloaders = { workspace = true }\n[tool.uv.workspace]\nmembers = ["packages/*"]\n',
    'packages/loaders/pyproject.toml': '[project]\nname = "loaders"\ndependencies = ["common", "a==1"]\n',
    'packages/loaders/src/loaders.py': '',
  };

  it('has members that need each other, and nothing of the same name comes from an index', () => {
    const common = { 'packages/common/pyproject.toml': '[project]\nname = "common"\n' };
    const found = read({ ...files, ...common }, 'pyproject.toml');
    expect(found.localFolders).toEqual(['packages/loaders/src', 'packages/common']);
    expect(installList(found)).toEqual(['a==1']);
    const without = read(files, 'pyproject.toml');
    expect(installList(without)).toEqual(['a==1']);
    expect(without.notes[0]?.message).toContain('common is left out');
  });
});

describe('a requirements file', () => {
  it('is read as pip reads it: comments, continued lines, markers, extras, addresses', () => {
    const found = requirements(
      [
        '# the shop',
        'pandas>=2 , <3  # frames',
        'requests[socks]==2.32.0 ; python_version >= "3.8"',
        'one \\',
        '  ==1.0',
        'git+https://git.example.org/tools.git@v1#egg=tools',
        'lib @ https://files.example.org/lib-1.0.whl',
        '',
      ].join('\r\n'),
    );
    expect(found.packages.map(({ text, name, line }) => [text, name, line])).toEqual([
      ['pandas>=2 , <3', 'pandas', 2],
      ['requests[socks]==2.32.0 ; python_version >= "3.8"', 'requests', 3],
      ['one ==1.0', 'one', 4],
      ['git+https://git.example.org/tools.git@v1#egg=tools', 'tools', 6],
      ['lib @ https://files.example.org/lib-1.0.whl', 'lib', 7],
    ]);
    expect(found.notes).toEqual([]);
  });

  it('keeps hashes with the line they belong to', () => {
    const { packages } = requirements('a==1 \\\n  --hash=sha256:00 \\\n  --hash=sha256:11\n--require-hashes\n');
    expect(packages.map(({ text }) => text)).toEqual(['a==1 --hash=sha256:00 --hash=sha256:11']);
  });

  it('includes others, from where they lie, each once', () => {
    const found = requirements('-r more/base.txt\nb\n', {
      'more/base.txt': 'a\n-rdeeper.txt\n-c pins.txt\n',
      'more/deeper.txt': 'c\n-r base.txt\n',
      'more/pins.txt': 'a==1.5\napache-airflow==2.9\n',
    });
    expect(installList(found)).toEqual(['a', 'c', 'b', '-c a==1.5']);
    expect(found.files.toSorted()).toEqual(['more/base.txt', 'more/deeper.txt', 'more/pins.txt', 'requirements.txt']);
  });

  it('has nothing of Airflow itself, but the providers of its extras', () => {
    const found = requirements(
      [
        'apache-airflow[postgres,amazon,kubernetes,celery,pandas]==2.10.1; python_version > "3.8"',
        'Apache_Airflow-Core',
        'apache-airflow-task-sdk>=1',
        'apache-airflow-providers-standard',
        'apache-airflow-providers-http==5.0',
      ].join('\n'),
    );
    expect(installList(found)).toEqual([
      'apache-airflow-providers-postgres; python_version > "3.8"',
      'apache-airflow-providers-amazon; python_version > "3.8"',
      'apache-airflow-providers-cncf-kubernetes; python_version > "3.8"',
      'pandas; python_version > "3.8"',
      'apache-airflow-providers-http==5.0',
    ]);
    expect(found.airflowMajor).toBe(2);
  });

  it('has packages of the repository itself on the path, with what they need', () => {
    const found = requirements('-e ./libs/pricing\n./libs/plain\n-e .\n', {
      'libs/pricing/pyproject.toml': '[project]\nname = "pricing"\ndependencies = ["humanize==4.9.0"]\n',
      'libs/pricing/src/pricing/__init__.py': '',
      'libs/plain/plain.py': '',
    });
    expect(found.localFolders).toEqual(['libs/pricing/src', 'libs/plain', '.']);
    expect(installList(found)).toEqual(['humanize==4.9.0']);
    expect(found.packages[0]).toMatchObject({ file: 'libs/pricing/pyproject.toml', line: 3 });
  });

  it('says what it does not do, with the line', () => {
    expect(told('-c https://example.org/constraints-3.11.txt')).toEqual([
      '1: constraints are read from files of the repository only: https://example.org/constraints-3.11.txt is left out',
    ]);
    expect(told('a\n--extra-index-url https://user:pass@example.org/simple')[0]).toMatch(
      /^2: --extra-index-url is not used: .*PIP_INDEX_URL/,
    );
    expect(told('-r gone.txt')).toEqual(['1: gone.txt is not in the repository, so it is not read']);
    expect(told('-r ../../etc/passwd')[0]).toContain('is not in the repository');
    expect(told('-e ../elsewhere')[0]).toContain('must be a folder of the repository');
    expect(told('--pre')).toEqual(['1: --pre is not used']);
    // Artifacts are shown to whoever may see the DAG.
    expect(told('git+https://me:hunter2@example.org/x.git#egg=x')).toEqual([
      expect.stringMatching(/^1: is left out: it holds a password/),
    ]);
    expect(requirements('git+https://me:hunter2@example.org/x.git').packages).toEqual([]);
    expect(requirements('git+https://me:${TOKEN}@example.org/x.git').packages).toHaveLength(1);
  });
});

describe('pyproject.toml', () => {
  it('has the dependencies of the project, or those of Poetry', () => {
    const project = '[project]\nname = "x"\ndependencies = ["a>=1", "apache-airflow>=3"]\n';
    expect(installList(read({ 'pyproject.toml': project }, 'pyproject.toml'))).toEqual(['a>=1']);
    const poetry =
      '[tool.poetry.dependencies]\npython = "^3.11"\nb = "^1.2.3"\nc = { version = "~2.1", extras = ["s"] }\nd = { git = "https://example.org/d", tag = "v1" }\ne = { url = "https://example.org/e.whl" }\n';
    const found = read({ 'pyproject.toml': poetry }, 'pyproject.toml');
    expect(installList(found)).toEqual(['b>=1.2.3,<2', 'c[s]>=2.1,<2.2', 'd @ git+https://example.org/d@v1']);
    expect(found.notes.map(({ message }) => message)).toEqual([expect.stringContaining('e of Poetry')]);
  });

  it('that is no TOML is told, and the rest goes on', () => {
    expect(read({ 'pyproject.toml': 'a = [' }, 'pyproject.toml').notes[0]?.message).toMatch(/^cannot be read: /);
  });

  it.each([
    ['^0.3.1', '>=0.3.1,<0.4'],
    ['^0.0.3', '>=0.0.3,<0.0.4'],
    ['^2', '>=2,<3'],
    ['~1.2.3', '>=1.2.3,<1.3'],
    ['~1', '>=1,<2'],
    ['*', ''],
    ['1.2', '==1.2'],
    ['>=1,<3', '>=1,<3'],
  ])('Poetry writes %s for %s', (written, meant) => expect(poetryVersion(written)).toBe(meant));
});
