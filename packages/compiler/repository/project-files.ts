/**
 * Dependencies in files of projects: pyproject.toml (of the standard, Poetry and uv), setup.cfg, Pipfile and conda's
 * environment.yml, and the versions that lock files name. Text goes in, dependencies and notes come out.
 */
import { posix } from 'node:path';
import { parse } from 'smol-toml';
import { FILE_LIMITS } from '@svc/spec/files/limits.ts';
import { readYaml } from '@svc/spec/files/yaml.ts';
import { normalName, partsOf } from './requirement-line.ts';
import { checkToml } from './toml-bounds.ts';

export type Dependency =
  /** `written`: how the file has it, when that is something else. */
  | { kind: 'package'; text: string; written?: string }
  /** A folder relative to that of the file. */
  | { kind: 'local'; path: string }
  | { kind: 'note'; message: string };

type ProjectFile = {
  text: string;
  file: string;
  extras: readonly string[];
  /** Where the workspace has a member of this name, relative to the folder of the file. */
  memberOf(name: string): string | undefined;
  /** The project file of the uv workspace that has this project as a member. Its sources hold for all members. */
  workspace?: string | undefined;
};

/** The lock file next to a project file: the first that exists counts. */
export const LOCK_FILES: Readonly<Record<string, readonly string[]>> = {
  'pyproject.toml': ['uv.lock', 'poetry.lock', 'pdm.lock'],
  Pipfile: ['Pipfile.lock'],
};

export const isProjectFile = (file: string): boolean => /(?:\.toml|\.ya?ml|^Pipfile|\/Pipfile|\.cfg)$/.test(file);

const TOML_DEPTH = FILE_LIMITS.pyproject.depth;

export function dependenciesIn(project: ProjectFile): Dependency[] {
  const { text, file } = project;
  const name = posix.basename(file);
  if (/\.ya?ml$/.test(name)) return ofConda(text, file);
  if (name.endsWith('.cfg')) return ofSetupCfg(project);
  checkToml(text, file);
  const document = parse(text, { maxDepth: TOML_DEPTH });
  return name === 'Pipfile' ? ofPipfile(document) : ofPyproject(document, project);
}

/** Of `[project]`, else of Poetry. */
function ofPyproject(
  document: Readonly<Record<string, unknown>>,
  { extras, memberOf, workspace }: ProjectFile,
): Dependency[] {
  const project = tableOf(document['project']);
  const tool = tableOf(document['tool']);
  const ofWorkspace = workspace === undefined ? {} : uvSources(parse(workspace, { maxDepth: TOML_DEPTH }));
  // A path in it is relative to the workspace.
  const shared = Object.entries(ofWorkspace).filter(([, source]) => tableOf(source)['path'] === undefined);
  const sources = { ...Object.fromEntries(shared), ...uvSources(document) };
  const optional = tableOf(project['optional-dependencies']);
  const listed = [
    ...textsOf(project['dependencies']),
    ...Object.entries(optional).flatMap(([extra, items]) => (extras.includes(normalName(extra)) ? textsOf(items) : [])),
  ];
  if (Array.isArray(project['dependencies']) || listed.length > 0)
    return listed.map((text) => sourced(text, sources, memberOf));
  const poetry = tableOf(tool['poetry']);
  return poetryTable(tableOf(poetry['dependencies']), "Poetry's dependencies", extras, tableOf(poetry['extras']));
}

const uvSources = (document: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  tableOf(tableOf(tableOf(document['tool'])['uv'])['sources']);

/** `[tool.uv.sources]` says where a package comes from that the list only names. */
function sourced(text: string, sources: Record<string, unknown>, memberOf: ProjectFile['memberOf']): Dependency {
  const { name, extras } = partsOf(text);
  const [, value] = Object.entries(sources).find(([key]) => normalName(key) === name) ?? [];
  const source = tableOf(value);
  const isMember = source['workspace'] === true && name !== undefined;
  const path = isMember ? memberOf(name) : source['path'];
  // An index may have another package of this name.
  if (isMember && path === undefined)
    return { kind: 'note', message: `${name} is left out: the uv workspace has no member of this name` };
  if (typeof path === 'string')
    return { kind: 'local', path: `./${path}${extras.length > 0 ? `[${extras.join()}]` : ''}` };
  if (typeof source['git'] === 'string')
    return { kind: 'package', text: `${text.split(/[ <>=!~;@[]/, 1)[0]} @ ${gitAddress(source)}`, written: text };
  return { kind: 'package', text };
}

const gitAddress = (source: Record<string, unknown>): string => {
  const rev = source['rev'] ?? source['tag'] ?? source['branch'];
  return `git+${String(source['git'])}${typeof rev === 'string' ? `@${rev}` : ''}`;
};

function poetryTable(
  table: Record<string, unknown>,
  where: string,
  wanted: readonly string[],
  groups: Record<string, unknown>,
): Dependency[] {
  const chosen = new Set(
    Object.entries(groups).flatMap(([extra, names]) =>
      wanted.includes(normalName(extra)) ? textsOf(names).map(normalName) : [],
    ),
  );
  return Object.entries(table).flatMap(([name, value]): Dependency[] => {
    if (name === 'python') return [];
    const entry = tableOf(value);
    if (entry['optional'] === true && !chosen.has(normalName(name))) return [];
    const extras = Array.isArray(entry['extras']) ? `[${entry['extras'].join(',')}]` : '';
    if (typeof entry['path'] === 'string') return [{ kind: 'local', path: `./${entry['path']}${extras}` }];
    if (typeof entry['git'] === 'string')
      return [{ kind: 'package', text: `${name}${extras} @ ${gitAddress(entry)}`, written: name }];
    const version = typeof value === 'string' ? value : entry['version'];
    if (typeof version !== 'string')
      return [{ kind: 'note', message: `${name} of ${where} is left out: versions, paths and git addresses are read` }];
    const marker = typeof entry['markers'] === 'string' ? ` ; ${entry['markers']}` : '';
    return [{ kind: 'package', text: `${name}${extras}${poetryVersion(version)}${marker}`, written: name }];
  });
}

const ofPipfile = (document: Readonly<Record<string, unknown>>): Dependency[] =>
  poetryTable(tableOf(document['packages']), "Pipfile's packages", [], {});

/** Of conda only what pip installs can be installed: its own packages have other names and hold other things. */
function ofConda(text: string, file: string): Dependency[] {
  const read = readYaml(text, { kind: 'project', file });
  if (!read.ok) throw new Error(read.problems[0]?.message ?? 'it is no YAML');
  const listed = tableOf(read.value)['dependencies'];
  const items: unknown[] = Array.isArray(listed) ? listed : [];
  const own = items
    .filter((item) => typeof item === 'string')
    .filter((item) => !/^(?:python|pip)(?:[ =<>].*)?$/.test(item));
  const pip = items.flatMap((item) => textsOf(tableOf(item)['pip']));
  const message = `${own.join(', ')} of conda is not installed: svc installs with pip and uv. List what DAG files import below pip:`;
  return [
    ...(own.length > 0 ? [{ kind: 'note' as const, message }] : []),
    ...pip.map((each): Dependency => ({ kind: 'package', text: each })),
  ];
}

/** `install_requires`, and `[options.extras_require]` of the extras. */
function ofSetupCfg({ text, extras }: ProjectFile): Dependency[] {
  const found: string[] = [];
  let section = '';
  let key = '';
  for (const line of text.split(/\r?\n/)) {
    const heading = /^\[([^\]]+)\]/.exec(line)?.[1];
    const [, name, value = ''] = /^([A-Za-z][\w-]*)[ \t]*=(.*)$/.exec(line) ?? [];
    if (heading !== undefined) [section, key] = [heading.trim(), ''];
    else if (name !== undefined) key = name;
    const isWanted =
      (section === 'options' && key === 'install_requires') ||
      (section === 'options.extras_require' && extras.includes(normalName(key)));
    const entry = (name === undefined ? line : value).replace(/(?:^|\s)#.*$/, '').trim();
    if (isWanted && heading === undefined && entry !== '') found.push(...entry.split(/;(?=\s*[A-Za-z][\w.-]*[<>=~!])/));
  }
  return found.map((each) => ({ kind: 'package', text: each.trim() }));
}

/** As constraints: `name==version`. A package that is locked in two versions is left to the installer. */
export function lockedVersions(text: string, name: string): string[] {
  const found = new Map<string, string | undefined>();
  const add = (key: string, version: string): void =>
    void found.set(normalName(key), found.has(normalName(key)) ? undefined : version);
  if (name === 'Pipfile.lock') {
    const packages = tableOf(tableOf(JSON.parse(text))['default']);
    for (const [key, value] of Object.entries(packages)) {
      const version = tableOf(value)['version'];
      if (typeof version === 'string' && version.startsWith('==')) add(key, version.slice(2));
    }
  } else {
    // Line by line: lock files are written by programs, and parsing one as TOML takes seconds.
    for (const part of text.split(/^\[\[package\]\]\s*$/m).slice(1)) {
      const [, key] = /^name = "([^"\n]+)"/m.exec(part) ?? [];
      const [, version] = /^version = "([^"\n]+)"/m.exec(part) ?? [];
      const isElsewhere =
        /^source = \{ (?:editable|virtual|directory|git|url|path)|^type = "(?:directory|git|url|file)"/m.test(part);
      if (key !== undefined && version !== undefined && !isElsewhere) add(key, version);
    }
  }
  return [...found].flatMap(([key, version]) => (version === undefined ? [] : [`${key}==${version}`]));
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

const tableOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** `^1.2` and `~1.2` are Poetry's own; the rest is as everywhere. */
export function poetryVersion(text: string): string {
  const [, sign, version = ''] = /^([\^~])\s*(\d[\d.]*)$/.exec(text.trim()) ?? [];
  if (sign === undefined) return text.trim() === '*' ? '' : /^\d/.test(text.trim()) ? `==${text.trim()}` : text.trim();
  const parts = version.split('.').map(Number);
  const firstSet = parts.findIndex((part) => part > 0);
  const bumped = sign === '~' ? Math.min(1, parts.length - 1) : firstSet === -1 ? parts.length - 1 : firstSet;
  const next = parts.slice(0, bumped + 1);
  next[bumped] = (next[bumped] ?? 0) + 1;
  return `>=${version},<${next.join('.')}`;
}
