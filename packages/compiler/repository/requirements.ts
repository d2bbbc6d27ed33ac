/**
 * What a repository asks to have installed: requirements files with what they include, constraints, pyproject.toml.
 * Nothing is resolved here; the installer does that. What it is not given is told in a note.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { FileLimitError, tooMany } from '@svc/spec/files/limits.ts';
import type { StepFlag } from './pip-command.ts';
import { LOCK_FILES, dependenciesIn, isProjectFile, lockedVersions } from './project-files.ts';
import type { Dependency } from './project-files.ts';
import { airflowMajor, logicalLines, normalName, partsOf, withoutAirflow } from './requirement-line.ts';
import type { Note, Requirement } from './requirement-line.ts';
import type { RepositoryFiles } from './repository-files.ts';

/** What one `pip install` installs, each text once. */
type RequirementStep = {
  readonly flags: readonly StepFlag[];
  readonly packages: readonly Requirement[];
  readonly constraints: readonly Requirement[];
};

export type Requirements = {
  /** In the order in which they are installed: a later step may replace what an earlier one installed. */
  readonly steps: readonly RequirementStep[];
  /** Of all steps. */
  readonly packages: readonly Requirement[];
  readonly constraints: readonly Requirement[];
  /** Folders of packages that the repository itself holds, relative to it: they are on the path, and not installed. */
  readonly localFolders: readonly string[];
  /** Every file that was read, relative to the repository. */
  readonly files: readonly string[];
  readonly airflowMajor: number | undefined;
  readonly notes: readonly Note[];
};

/**
 * A list for the installer (install_packages.py): packages, then constraints, each with `-c ` before it. `--step` with its flags
 * begins another step. The list ends in a step without flags, so that packages may be added to it.
 */
export function installList({ steps }: Pick<Requirements, 'steps'>): string[] {
  const lists = steps.flatMap(({ flags, packages, constraints }, index) => [
    ...(index > 0 || flags.length > 0 ? [['--step', ...flags].join(' ')] : []),
    ...packages.map(({ text }) => text),
    ...constraints.map(({ text }) => `-c ${text}`),
  ]);
  return (steps.at(-1)?.flags.length ?? 0) > 0 ? [...lists, '--step'] : lists;
}

export type WantedStep = { readonly flags: readonly StepFlag[]; readonly items: readonly Wanted[] };

type Wanted = { kind: 'requirements' | 'constraints'; file: string } | { kind: 'line'; text: string; at: Note };

const INDEX_OPTION = /^(-i|-f|--(?:index-url|extra-index-url|find-links|trusted-host|no-index))(?=[ =]|$)/;
const FILE_OPTION = /^(?:-([rc])\s*|--(requirement|constraint)[ =]\s*)(\S+)$/;
const EDITABLE = /^(?:-e\s*|--editable[ =]\s*)(.+)$/;

/** Of all files together, with what they include. */
const MAX_FILES = 50;
const MAX_REQUIREMENTS = 10_000;

export function readRequirements(root: string, texts: RepositoryFiles, wanted: readonly WantedStep[]): Requirements {
  const steps: RequirementStep[] = [];
  let packages: Requirement[] = [];
  let constraints: Requirement[] = [];
  let count = 0;
  const localFolders = new Set<string>();
  const files = new Set<string>();
  /** Of this step: two steps may read the same file. */
  let inStep = new Set<string>();
  const notes: Note[] = [];
  /** The project file that names the members of a uv workspace. */
  let workspace: { text: string; folder: string } | undefined;
  let major: number | undefined;
  const note = (file: string, line: number | null, message: string): void => void notes.push({ file, line, message });

  function read(file: string, kind: 'requirements' | 'constraints', from?: Note): void {
    const path = resolve(root, file);
    const shown = relative(root, path);
    if (isProjectFile(shown)) return readProject(shown);
    if (inStep.has(`${kind} ${shown}`)) return;
    const text = shown.startsWith(`..${sep}`) ? undefined : texts.text('requirements', shown);
    if (text === undefined) {
      // What is above a bound is told as an error.
      if (!texts.refused.some(({ file: refused }) => refused === shown))
        note(from?.file ?? shown, from?.line ?? null, `${shown} is not in the repository, so it is not read`);
      return;
    }
    if (files.size >= MAX_FILES)
      throw tooMany('requirements', shown, { what: 'files that include each other', limit: MAX_FILES, line: null });
    files.add(shown);
    inStep.add(`${kind} ${shown}`);
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
    if (editable !== undefined || /^(?:\.{0,2}\/|\.{1,2}(?:\[|$))/.test(text)) {
      if (/^[a-z+]+:/.test(place)) add(place, at, kind);
      else takeLocal(place, at);
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
    count += 1;
    if (count > MAX_REQUIREMENTS)
      throw tooMany('requirements', at.file, { what: 'packages', limit: MAX_REQUIREMENTS, line: at.line });
    const requirement = { text, name: partsOf(text).name, file: at.file, line: at.line ?? 0 };
    major = airflowMajor(requirement) ?? major;
    if (kind === 'constraints') {
      if (withoutAirflow(requirement)[0] === requirement) constraints.push(requirement);
    } else packages.push(...withoutAirflow(requirement));
  }

  /** A package of the repository itself. */
  function takeLocal(written: string, at: Note): void {
    const { place, extras } = splitExtras(written);
    const path = resolve(root, dirname(at.file), place);
    const folder = relative(root, path) || '.';
    if (folder.startsWith('..') || !isFolder(path)) {
      note(at.file, at.line, `${place} is left out: a package by its path must be a folder of the repository`);
      return;
    }
    localFolders.add(isFolder(join(path, 'src')) ? join(folder, 'src') : folder);
    const own = ['pyproject.toml', 'setup.cfg'].find((name) => isFile(join(path, name)));
    if (own !== undefined) readProject(join(folder, own), extras);
    else if (isFile(join(path, 'setup.py')))
      note(
        at.file,
        at.line,
        `what ${join(folder, 'setup.py')} requires is not installed: the file is not executed. List it in requirements.txt`,
      );
  }

  /** pyproject.toml, Pipfile and their like, with the versions of a lock file next to them. */
  function readProject(file: string, extras: readonly string[] = []): void {
    const text = texts.text('pyproject', file);
    if (text === undefined) {
      if (!texts.refused.some(({ file: refused }) => refused === file))
        note(file, null, 'is not in the repository, so it is not read');
      return;
    }
    const key = `project ${file} ${extras.join()}`;
    if (inStep.has(key)) return;
    if (files.size >= MAX_FILES)
      throw tooMany('requirements', file, { what: 'files that include each other', limit: MAX_FILES, line: null });
    inStep.add(key);
    files.add(file);
    try {
      const lines = lineFinder(text);
      const folder = dirname(file);
      if (workspace === undefined && /^\[tool\.uv\.workspace\]/m.test(text)) workspace = { text, folder };
      const around = workspace ?? { text, folder };
      for (const found of dependenciesIn({
        text,
        file,
        extras,
        memberOf(name) {
          const place = memberOf(name, around.text, around.folder);
          return place === undefined ? undefined : relative(folder, join(around.folder, place));
        },
        workspace: workspace?.text,
      }))
        takeDependency(found, file, lines);
      takeLock(file);
    } catch (error) {
      if (error instanceof FileLimitError) throw error;
      note(file, null, `cannot be read: ${(error as Error).message.split('\n', 1)[0]}`);
    }
  }

  function takeDependency(found: Dependency, file: string, lines: (part: string) => number): void {
    if (found.kind === 'note') note(file, null, found.message);
    else if (found.kind === 'local') takeLocal(found.path, { file, line: null, message: '' });
    else add(found.text, { file, line: lines(found.written ?? found.text), message: '' }, 'requirements');
  }

  function takeLock(project: string): void {
    for (const name of LOCK_FILES[basename(project)] ?? []) {
      const file = join(dirname(project), name);
      const text = texts.text('lockFile', file);
      if (text === undefined) continue;
      files.add(file);
      for (const locked of lockedVersions(text, name)) add(locked, { file, line: null, message: '' }, 'constraints');
      return;
    }
  }

  /** The folder of the member of a uv workspace that has this name. */
  function memberOf(name: string, rootText: string, folder: string): string | undefined {
    const listed = /^\s*members\s*=\s*\[([^\]]{0,10000})\]/m.exec(rootText)?.[1] ?? '';
    const patterns = [...listed.matchAll(/["']([^"'\n]+)["']/g)].map(([, pattern = '']) => pattern);
    const folders = patterns.flatMap((pattern) =>
      pattern.endsWith('/*')
        ? foldersIn(join(root, folder, pattern.slice(0, -2))).map((each) => join(pattern.slice(0, -2), each))
        : [pattern],
    );
    return folders.slice(0, MAX_FILES).find((each) => {
      const text = texts.text('pyproject', join(folder, each, 'pyproject.toml')) ?? '';
      return normalName(/^name\s*=\s*["']([^"'\n]+)["']/m.exec(text)?.[1] ?? '') === normalName(name);
    });
  }

  texts.within(() => {
    for (const { flags, items } of wanted) {
      for (const item of items) {
        if (item.kind === 'line') take(item.text, item.at, 'requirements');
        else read(item.file, item.kind);
      }
      // Constraints alone install nothing, unless svc.yaml adds packages to them.
      if (packages.length > 0 || (constraints.length > 0 && wanted.length === 1))
        steps.push({ flags, packages: onlyOnce(packages), constraints: onlyOnce(constraints) });
      packages = [];
      constraints = [];
      inStep = new Set();
    }
  });
  return {
    steps,
    packages: steps.flatMap((step) => step.packages),
    constraints: steps.flatMap((step) => step.constraints),
    localFolders: [...localFolders],
    files: [...files],
    airflowMajor: major,
    notes,
  };
}

const onlyOnce = (requirements: readonly Requirement[]): Requirement[] =>
  [...new Map(requirements.toReversed().map((requirement) => [requirement.text, requirement])).values()].reverse();

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

/** `./folder[extra]` */
function splitExtras(written: string): { place: string; extras: string[] } {
  const at = written.endsWith(']') ? written.indexOf('[') : -1;
  if (at === -1) return { place: written, extras: [] };
  const extras = written.slice(at + 1, -1).split(',');
  return { place: written.slice(0, at), extras: extras.map(normalName).filter((extra) => extra !== '') };
}

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

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}
