/**
 * What a repository asks to have installed: requirements files with what they include, constraints, pyproject.toml.
 * Nothing is resolved here; the installer does that. What it is not given is told in a note.
 */
import { statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { parse } from 'smol-toml';
import { FILE_LIMITS, FileLimitError, tooMany } from '@svc/spec/files/limits.ts';
import { airflowMajor, logicalLines, partsOf, withoutAirflow } from './requirement-line.ts';
import type { Note, Requirement } from './requirement-line.ts';
import type { RepositoryFiles } from './repository-files.ts';
import { checkToml } from './toml-bounds.ts';

export type Requirements = {
  /** In the order written, each text once. */
  readonly packages: readonly Requirement[];
  readonly constraints: readonly Requirement[];
  /** Folders of packages that the repository itself holds, relative to it: they are on the path, and not installed. */
  readonly localFolders: readonly string[];
  /** Every file that was read, relative to the repository. */
  readonly files: readonly string[];
  readonly airflowMajor: number | undefined;
  readonly notes: readonly Note[];
};

/** A list for the installer: packages, then constraints, each with `-c ` before it. */
export const installList = ({ packages, constraints }: Requirements): string[] => [
  ...packages.map(({ text }) => text),
  ...constraints.map(({ text }) => `-c ${text}`),
];

type Wanted = { kind: 'requirements' | 'constraints'; file: string } | { kind: 'line'; text: string; at: Note };

const INDEX_OPTION = /^(-i|-f|--(?:index-url|extra-index-url|find-links|trusted-host|no-index))(?=[ =]|$)/;
const FILE_OPTION = /^(?:-([rc])\s*|--(requirement|constraint)[ =]\s*)(\S+)$/;
const EDITABLE = /^(?:-e\s*|--editable[ =]\s*)(.+)$/;

/** Of all files together, with what they include. */
const MAX_FILES = 50;
const TOML_DEPTH = FILE_LIMITS.pyproject.depth;
const MAX_REQUIREMENTS = 10_000;

export function readRequirements(root: string, texts: RepositoryFiles, wanted: readonly Wanted[]): Requirements {
  const packages: Requirement[] = [];
  const constraints: Requirement[] = [];
  const localFolders = new Set<string>();
  const files = new Set<string>();
  const notes: Note[] = [];
  let major: number | undefined;
  const note = (file: string, line: number | null, message: string): void => void notes.push({ file, line, message });

  function read(file: string, kind: 'requirements' | 'constraints', from?: Note): void {
    const path = resolve(root, file);
    const shown = relative(root, path);
    if (files.has(`${kind} ${shown}`)) return;
    const text = shown.startsWith(`..${sep}`) ? undefined : texts.text('requirements', shown);
    if (text === undefined) {
      // What is above a bound is told as an error.
      if (!texts.refused.some(({ file: refused }) => refused === shown))
        note(from?.file ?? shown, from?.line ?? null, `${shown} is not in the repository, so it is not read`);
      return;
    }
    if (files.size >= MAX_FILES)
      throw tooMany('requirements', shown, { what: 'files that include each other', limit: MAX_FILES, line: null });
    files.add(`${kind} ${shown}`);
    for (const { text: line, line: number } of logicalLines(text, shown))
      take(line, { file: shown, line: number, message: '' }, kind);
  }

  /** A Dockerfile may have copied it to a place of another name. */
  const placeOf = (target: string, from: string): string => {
    const file = join(dirname(from), target);
    const isCopied = /^(?:Docker|Container)file$/.test(from) && !isFile(join(root, file));
    return isCopied ? basename(target) : file;
  };

  function take(text: string, at: Note, kind: 'requirements' | 'constraints'): void {
    const [, short, long, target = ''] = FILE_OPTION.exec(text) ?? [];
    if (target !== '') {
      const included = short === 'c' || long === 'constraint' ? 'constraints' : kind;
      if (/^[a-z]+:\/\//.test(target)) {
        const what = included === 'constraints' ? 'constraints' : 'requirements';
        note(at.file, at.line, `${what} are read from files of the repository only: ${target} is left out`);
      } else read(placeOf(target, at.file), included, at);
      return;
    }
    const editable = EDITABLE.exec(text)?.[1]?.trim();
    const place = editable ?? text;
    if (editable !== undefined || /^\.{0,2}\//.test(text) || text === '.') {
      if (/^[a-z+]+:/.test(place)) add(place, at, kind);
      else takeLocal(withoutExtras(place), at);
      return;
    }
    if (INDEX_OPTION.test(text)) {
      const option = INDEX_OPTION.exec(text)?.[1];
      note(
        at.file,
        at.line,
        `${option} is not used: where packages come from is set where environments are made, as for pip and uv (PIP_INDEX_URL, UV_INDEX_URL, pip.conf)`,
      );
    } else if (text.startsWith('-')) {
      if (text !== '--require-hashes') note(at.file, at.line, `${text.split(/[ =]/, 1)[0]} is not used`);
    } else add(text, at, kind);
  }

  function add(text: string, at: Note, kind: 'requirements' | 'constraints'): void {
    if (holdsPassword(text)) {
      note(
        at.file,
        at.line,
        'is left out: it holds a password, which the artifact would show. Write ${NAME}, and set that variable where environments are made',
      );
      return;
    }
    if (packages.length + constraints.length >= MAX_REQUIREMENTS)
      throw tooMany('requirements', at.file, { what: 'packages', limit: MAX_REQUIREMENTS, line: at.line });
    const requirement = { text, name: partsOf(text).name, file: at.file, line: at.line ?? 0 };
    major = airflowMajor(requirement) ?? major;
    if (kind === 'constraints') {
      if (withoutAirflow(requirement)[0] === requirement) constraints.push(requirement);
    } else packages.push(...withoutAirflow(requirement));
  }

  /** A package of the repository itself. */
  function takeLocal(place: string, at: Note): void {
    const path = resolve(root, dirname(at.file), place);
    const folder = relative(root, path) || '.';
    if (folder.startsWith('..') || !isFolder(path)) {
      note(at.file, at.line, `${place} is left out: a package by its path must be a folder of the repository`);
      return;
    }
    localFolders.add(isFolder(join(path, 'src')) ? join(folder, 'src') : folder);
    readPyproject(join(folder, 'pyproject.toml'));
  }

  function readPyproject(file: string): void {
    const text = texts.text('pyproject', file);
    if (text === undefined || files.has(`pyproject ${file}`)) return;
    files.add(`pyproject ${file}`);
    try {
      checkToml(text, file);
      const lines = lineFinder(text);
      for (const line of dependenciesOf(parse(text, { maxDepth: TOML_DEPTH }))) {
        if (line.note !== undefined) note(file, null, line.note);
        else add(line.text, { file, line: lines(line.text), message: '' }, 'requirements');
      }
    } catch (error) {
      if (error instanceof FileLimitError) throw error;
      note(file, null, `cannot be read: ${(error as Error).message.split('\n', 1)[0]}`);
    }
  }

  texts.within(() => {
    for (const item of wanted) {
      if (item.kind === 'line') take(item.text, item.at, 'requirements');
      else if (item.file.endsWith('.toml')) readPyproject(item.file);
      else read(item.file, item.kind);
    }
  });
  return {
    packages: onlyOnce(packages),
    constraints: onlyOnce(constraints),
    localFolders: [...localFolders],
    files: [...new Set([...files].map((name) => name.slice(name.indexOf(' ') + 1)))],
    airflowMajor: major,
    notes,
  };
}

const onlyOnce = (requirements: readonly Requirement[]): Requirement[] =>
  [...new Map(requirements.toReversed().map((requirement) => [requirement.text, requirement])).values()].reverse();

type Dependency = { text: string; note?: undefined } | { text?: undefined; note: string };

/** Of `[project]`, else of Poetry. */
function dependenciesOf(document: Readonly<Record<string, unknown>>): Dependency[] {
  const project = tableOf(document['project']);
  const listed = project['dependencies'];
  if (Array.isArray(listed)) return listed.flatMap((text) => (typeof text === 'string' ? [{ text }] : []));
  const poetry = tableOf(tableOf(tableOf(document['tool'])['poetry'])['dependencies']);
  return Object.entries(poetry).flatMap(([name, value]): Dependency[] => {
    if (name === 'python') return [];
    const table = tableOf(value);
    const version = typeof value === 'string' ? value : table['version'];
    if (typeof version !== 'string')
      return [{ note: `${name} of Poetry's dependencies is left out: only versions are read` }];
    const extras = Array.isArray(table['extras']) ? `[${table['extras'].join(',')}]` : '';
    return [{ text: `${name}${extras}${poetryVersion(version)}` }];
  });
}

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

/** Finds the line of each dependency, in the order in which they were written: from the last one found, so the text is read once. */
function lineFinder(text: string): (part: string) => number {
  let at = 0;
  let line = 1;
  return (part) => {
    const found = text.indexOf(part, at);
    if (found === -1) return line;
    for (let next = text.indexOf('\n', at); next !== -1 && next < found; next = text.indexOf('\n', next + 1)) line += 1;
    at = found;
    return line;
  };
}

/** `pkg[extra]` without what is in brackets at its end. */
const withoutExtras = (place: string): string =>
  place.endsWith(']') && place.includes('[') ? place.slice(0, place.indexOf('[')) : place;

/** Of an address: `user:password@`, in which the password is no variable. */
function holdsPassword(text: string): boolean {
  for (const [, user = ''] of text.matchAll(/:\/\/([^/@\s]*)@/g)) {
    for (let at = user.indexOf(':'); at !== -1; at = user.indexOf(':', at + 1)) {
      if (at + 1 < user.length && !user.startsWith('${', at + 1)) return true;
    }
  }
  return false;
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
