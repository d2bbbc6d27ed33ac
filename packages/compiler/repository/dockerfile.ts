/**
 * The Dockerfile of an Airflow image: what it installs, copies and sets is read, the rest is named. It is not built: tasks run in
 * an environment of ours, or in an image on our base.
 *
 * Stages are read from top to bottom. A stage begins with what its base stage has; the last stage that is based on an image of
 * Airflow is the one that counts. What another stage installs counts when files are copied from it.
 */
import { FileLimitError } from '@svc/spec/files/limits.ts';
import { airflowBase, homeOf, majorOf, variablesOf } from './airflow-images.ts';
import { instructionsOf, jsonWords, shortened, withOptions } from './dockerfile-lines.ts';
import type { Instruction } from './dockerfile-lines.ts';
import { absolute, imageFiles } from './image-files.ts';
import type { CopiedPath, ImageFiles, RepositoryLook } from './image-files.ts';
import type { Note } from './requirement-line.ts';
import { readRun } from './run-commands.ts';
import { shellWords, withVariables } from './shell-words.ts';
import type { InstallStep, Stage } from './stage.ts';

export type ReadDockerfile = {
  /** Undefined: its base is neither Airflow's nor Astronomer's. */
  readonly base: string | undefined;
  readonly airflowMajor: number | undefined;
  /** In the order in which the image is built. */
  readonly steps: readonly InstallStep[];
  readonly apt: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Of the image: what the repository is copied to, and where its processes start. */
  readonly files: ImageFiles;
  readonly workdir: string;
  readonly notes: readonly Note[];
};

/** Nothing of these matters outside of the image: who runs it is ours to say. */
const WITHOUT_MEANING = new Set(['USER', 'LABEL', 'SHELL', 'EXPOSE', 'MAINTAINER', 'STOPSIGNAL']);

/** Characters that variables are replaced by, in the whole file. */
const MAX_EXPANDED = 1024 * 1024;

const tooLongValue = (file: string, name: string): FileLimitError =>
  new FileLimitError({
    file,
    message: `grows by more than 1 MiB, which is the limit, when variables such as ${name.slice(0, 60)} are replaced by their values`,
    instead: 'Shorten the values of ARG and ENV that contain each other',
  });

const NOTHING_THERE: RepositoryLook = { kindOf: () => undefined };

export function readDockerfile(
  text: string,
  file = 'Dockerfile',
  look: RepositoryLook = NOTHING_THERE,
): ReadDockerfile {
  const stages = new Map<string, Stage>();
  const globals: Record<string, string> = {};
  let stage: Stage | undefined;
  let expanded = 0;
  // Values may contain values, so a few lines could become gigabytes.
  const lookup =
    (values: (name: string) => string | undefined) =>
    (name: string): string | undefined => {
      const value = values(name);
      expanded += value?.length ?? 0;
      if (expanded > MAX_EXPANDED) throw tooLongValue(file, name);
      return value;
    };
  const inStage = lookup((name) => stage?.env[name] ?? stage?.values[name]);

  function begin(rest: string): void {
    const [image = '', , name] = withVariables(
      withOptions(rest).rest,
      lookup((key) => globals[key]),
    ).split(/\s+/);
    const parent = stages.get(image.toLowerCase());
    stage = parent ? copyOf(parent, look) : newStage(airflowBase(image), look);
    stages.set(String(stages.size), stage);
    if (name !== undefined) stages.set(name.toLowerCase(), stage);
  }

  function take(into: Stage, { word, rest, line }: Instruction): void {
    switch (word) {
      case 'ARG':
        for (const [name, value] of argumentsOf(rest, inStage)) {
          const given = value ?? globals[name];
          if (given !== undefined) into.values[name] = given;
        }
        break;
      case 'ENV':
        Object.assign(into.env, settingsOf(rest, inStage));
        break;
      case 'WORKDIR':
        into.workdir = absolute(withVariables(rest, inStage), into.workdir);
        break;
      case 'COPY':
      case 'ADD':
        takeCopy(into, rest);
        break;
      case 'RUN':
        readRun({ stage: into, rest, line, file, look, lookup });
        break;
      default:
        if (!WITHOUT_MEANING.has(word))
          into.notes.push({ file, line, message: `${word} is not carried out: ${shortened(rest)}` });
    }
  }

  function takeCopy(into: Stage, text: string): void {
    const { options, rest } = withOptions(text);
    const words = jsonWords(rest) ?? shellWords(rest, inStage);
    const place = words.at(-1) ?? '';
    const sources = words.slice(0, -1).filter((word) => !/^(?:https?:|git@|<<)/.test(word));
    const from = options.get('from');
    if (from === undefined) return into.files.copy(sources, place, into.workdir);
    const other = stages.get(from.toLowerCase());
    if (!other) return;
    for (const source of sources) {
      const found = other.files.place(absolute(source, other.workdir));
      if (found !== undefined) into.files.copy([found], place, into.workdir);
    }
    const known = new Set(into.steps);
    into.steps.push(...other.steps.filter((step) => !known.has(step)));
  }

  for (const instruction of instructionsOf(text)) {
    if (instruction.word === 'FROM') begin(instruction.rest);
    else if (stage) take(stage, instruction);
    else if (instruction.word === 'ARG')
      for (const [name, value] of argumentsOf(
        instruction.rest,
        lookup((key) => globals[key]),
      ))
        if (value !== undefined) globals[name] = value;
  }
  const last = [...stages.values()].findLast(({ base }) => base !== undefined) ?? newStage(undefined, look);
  const { base, env, files, workdir } = last;
  if (base === undefined)
    return { base, airflowMajor: undefined, steps: [], apt: [], env: {}, files, workdir, notes: [] };
  return {
    base,
    airflowMajor: majorOf(base),
    steps: last.steps,
    apt: [...new Set(last.apt)],
    env,
    files,
    workdir,
    notes: last.notes,
  };
}

function newStage(base: string | undefined, look: RepositoryLook): Stage {
  const home = homeOf(base);
  const values = variablesOf(base);
  const workdir = base === undefined ? '/' : home;
  return { base, home, workdir, env: {}, values, files: imageFiles(look), steps: [], apt: [], notes: [] };
}

/** ARG ends with its stage, but the values of the base image do not. */
const copyOf = (parent: Stage, look: RepositoryLook): Stage => ({
  ...parent,
  env: { ...parent.env },
  values: { ...parent.values },
  files: imageFiles(look, parent.files.copied as readonly CopiedPath[]),
  steps: [...parent.steps],
  apt: [...parent.apt],
  notes: [...parent.notes],
});

type Lookup = (name: string) => string | undefined;

/** One ARG may have several; without a value it takes the one that was set before the first FROM. */
function argumentsOf(rest: string, lookup: Lookup): [string, string | undefined][] {
  return shellWords(rest, lookup).flatMap((word): [string, string | undefined][] => {
    const [, name, , value] = /^(\w+)(=(.*))?$/s.exec(word) ?? [];
    return name === undefined ? [] : [[name, value]];
  });
}

function settingsOf(text: string, lookup: Lookup): Record<string, string> {
  if (!/^\w+=/.test(text)) {
    const [, name = '', value = ''] = /^(\w+)\s+(.*)$/s.exec(text) ?? [];
    return name === '' ? {} : { [name]: withVariables(value, lookup) };
  }
  // Of a value without quotes, ENV makes one word even where a shell would make several: so variables are replaced after.
  const pairs: [string, string][] = [];
  for (const match of text.matchAll(/\b(\w+)=("(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s\\]|\\.)*)/gs)) {
    const [, name = '', value = ''] = match;
    const isLiteral = value.startsWith("'");
    pairs.push([name, isLiteral ? unquoted(value) : withVariables(unquoted(value), lookup)]);
  }
  return Object.fromEntries(pairs);
}

const unquoted = (text: string): string => {
  const inner = /^(["'])(.*)\1$/s.exec(text)?.[2] ?? text;
  return inner.replace(/\\(.)/g, '$1');
};
