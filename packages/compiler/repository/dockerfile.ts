/**
 * The Dockerfile of an Airflow image: what it installs and sets is read, the rest is named. It is not built: tasks run in
 * an environment of ours, or in an image on our base.
 */
import { FileLimitError } from '@svc/spec/files/limits.ts';
import type { Note } from './requirement-line.ts';
import { insideRepository } from './settings.ts';

export type ReadDockerfile = {
  /** Undefined: its base is neither Airflow's nor Astronomer's. */
  readonly base: string | undefined;
  readonly airflowMajor: number | undefined;
  /** Lines for `readRequirements`, each with where it stands. */
  readonly pip: readonly { text: string; line: number }[];
  readonly apt: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly notes: readonly Note[];
};

/** Nothing of these matters outside of the image: files are there anyway, and who runs it is ours to say. */
const WITHOUT_MEANING = new Set([
  'FROM',
  'ARG',
  'COPY',
  'ADD',
  'USER',
  'WORKDIR',
  'LABEL',
  'SHELL',
  'EXPOSE',
  'MAINTAINER',
  'STOPSIGNAL',
]);
/** Of a shell line: what makes room, or changes nothing that is installed. */
const HARMLESS =
  /^(?:set\b|true$|:$|rm\b|mkdir\b|chown\b|chmod\b|cd\b|echo\b|export\b|(?:apt-get|apt)\s+(?:-\S+\s+)*(?:update|clean|autoclean|autoremove|upgrade)\b|(?:pip3?|python3?\s+-m\s+pip)\s+install\s+(?:-\S+\s+)*(?:--upgrade|-U)\s+pip$)/;
const PIP = /^(?:uv\s+pip|pip3?|python3?(?:\.\d+)?\s+-m\s+pip)\s+install\s+(.*)$/;
const APT = /^(?:sudo\s+)?(?:apt-get|apt)\s+(?:-\S+\s+)*install\s+(.*)$/;
/** Options of pip that take a value of their own. */
const WITH_VALUE = new Set([
  '-i',
  '-f',
  '-t',
  '--index-url',
  '--extra-index-url',
  '--find-links',
  '--target',
  '--trusted-host',
  '--prefix',
  '--timeout',
  '--retries',
  '--python',
]);

/** Characters that variables are replaced by, in the whole file. */
const MAX_EXPANDED = 1024 * 1024;
const MAX_IMAGE_NAME = 512;

const tooLongValue = (file: string, name: string): FileLimitError =>
  new FileLimitError({
    file,
    message: `grows by more than 1 MiB, which is the limit, when variables such as ${name.slice(0, 60)} are replaced by their values`,
    instead: 'Shorten the values of ARG and ENV that contain each other',
  });

export function readDockerfile(text: string, file = 'Dockerfile'): ReadDockerfile {
  const instructions = instructionsOf(text);
  const values: Record<string, string> = {};
  const env: Record<string, string> = {};
  let expanded = 0;
  // Values may contain values, so a few lines could become gigabytes.
  const expand = (part: string): string =>
    part.replace(
      /\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))/g,
      (whole, braced?: string, fallback?: string, plain?: string) => {
        const name = braced ?? plain ?? '';
        const value = env[name] ?? values[name] ?? fallback ?? whole;
        expanded += value.length;
        if (expanded > MAX_EXPANDED) throw tooLongValue(file, name);
        return value;
      },
    );
  for (const { word, rest } of instructions) {
    const [, name = '', value = ''] = word === 'ARG' ? (/^(\w+)=(.*)$/s.exec(rest) ?? []) : [];
    if (name !== '') values[name] = unquoted(value);
  }
  const base = instructions
    .filter(({ word }) => word === 'FROM')
    .map(({ rest }) => expand(rest))
    .find(isAirflows);
  const pip: { text: string; line: number }[] = [];
  const apt: string[] = [];
  const notes: Note[] = [];
  for (const { word, rest, line } of base === undefined ? [] : instructions) {
    if (word === 'ENV') Object.assign(env, settingsOf(rest, expand));
    else if (word === 'RUN') {
      const left = commandsOf(rest).filter((command) => {
        if (HARMLESS.test(command)) return false;
        const given = PIP.exec(command)?.[1];
        const packages = APT.exec(command)?.[1];
        if (given !== undefined) pip.push(...pipLines(expand(given)).map((item) => ({ text: item, line })));
        else if (packages !== undefined) apt.push(...wordsOf(expand(packages)).filter((name) => !name.startsWith('-')));
        return given === undefined && packages === undefined;
      });
      if (left.length > 0)
        notes.push({ file, line, message: `is not carried out: ${left.map(shortened).join(' && ')}` });
    } else if (!WITHOUT_MEANING.has(word)) {
      notes.push({ file, line, message: `${word} is not carried out: ${shortened(rest)}` });
    }
  }
  return {
    base,
    airflowMajor: base === undefined ? undefined : majorOf(base),
    pip,
    apt: [...new Set(apt)],
    env,
    notes,
  };
}

const isAirflows = (from: string): boolean =>
  from.length <= MAX_IMAGE_NAME &&
  (/(^|\/)(apache\/airflow|astro-runtime|ap-airflow)\b/.test(from) ||
    /(astronomer|astrocrpublic)[^\s]*\/[\w-]*(runtime|airflow)/.test(from));

/** Astronomer's runtime counted by itself up to 13 (Airflow 2), and by Airflow since 3. */
function majorOf(from: string): number | undefined {
  const tag = /:(?:slim-)?(\d+)(?:\.(\d+))?/.exec(from);
  if (!tag) return undefined;
  const major = Number(tag[1]);
  if (/astro-runtime/.test(from)) return 2;
  return major;
}

/** Logical lines; a here-document belongs to its RUN. */
function instructionsOf(text: string): { word: string; rest: string; line: number }[] {
  const lines = text.split(/\r?\n/);
  const found: { word: string; rest: string; line: number }[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = index + 1;
    let whole = lines[index] ?? '';
    if (/^\s*(#|$)/.test(whole)) continue;
    // Line by line, because the end of a long instruction would be looked at once for each of its lines.
    const continued: string[] = [];
    let last = whole.trimEnd();
    while (last.endsWith('\\') && index + 1 < lines.length) {
      index += 1;
      const next = (lines[index] ?? '').trim();
      if (next.startsWith('#')) continue;
      continued.push(last.slice(0, -1));
      last = next;
    }
    if (continued.length > 0) whole = [...continued, last].join(' ');
    const [, word = '', rest = ''] = /^\s*(\w+)\s+(.*)$/s.exec(whole) ?? [];
    const end = word.toUpperCase() === 'RUN' ? /<<-?\s*["']?(\w+)["']?/.exec(rest)?.[1] : undefined;
    const close = end === undefined ? index : lines.findIndex((text, at) => at > index && text.trim() === end);
    const body = lines.slice(index + 1, close);
    index = close === -1 ? lines.length : close;
    if (word !== '')
      found.push({ word: word.toUpperCase(), rest: end === undefined ? rest.trim() : body.join('\n'), line });
  }
  return found;
}

/** The commands of a shell line, or the one of a JSON array. */
function commandsOf(text: string): string[] {
  const withoutFlags = text.replace(/^(?:--\w+(?:=\S+)?\s+)+/, '');
  if (withoutFlags.startsWith('[')) {
    try {
      const words = JSON.parse(withoutFlags) as unknown;
      if (Array.isArray(words)) return [words.join(' ')];
    } catch {
      // not JSON, so a shell line
    }
  }
  return withoutFlags.split(/&&|\|\||;|\n/).flatMap((command) => command.trim().replace(/\s+/g, ' ') || []);
}

function pipLines(text: string): string[] {
  const words = wordsOf(text);
  const lines: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (['-r', '-c', '--requirement', '--constraint', '-e', '--editable'].includes(word))
      lines.push(`${word} ${words[(index += 1)] ?? ''}`);
    else if (/^(?:--(?:requirement|constraint|editable)=|-[rc]\S)/.test(word)) lines.push(word);
    else if (WITH_VALUE.has(word)) {
      const value = words[(index += 1)] ?? '';
      if (/^(?:-i|-f|--(?:index-url|extra-index-url|find-links))$/.test(word)) lines.push(`${word} ${value}`);
    } else if (!word.startsWith('-')) lines.push(word);
  }
  // Of an image, requirements lie where they were copied to.
  return lines.map((line) =>
    line.replace(/^((?:-[rc]|--(?:requirement|constraint))[ =]?)(\/\S+)$/, (_, option: string, path: string) => {
      return option + (insideRepository(path) ?? path.slice(1));
    }),
  );
}

const wordsOf = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');

function settingsOf(text: string, expand: (part: string) => string): Record<string, string> {
  if (!/^\w+=/.test(text)) {
    const [, name = '', value = ''] = /^(\w+)\s+(.*)$/s.exec(text) ?? [];
    return name === '' ? {} : { [name]: expand(value) };
  }
  // Without \\b a long word is looked at once for each of its letters.
  const pairs = [...text.matchAll(/\b(\w+)=("(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s\\]|\\.)*)/gs)];
  return Object.fromEntries(
    pairs.map(([, name = '', value = '']) => [name, value.startsWith("'") ? unquoted(value) : expand(unquoted(value))]),
  );
}

const unquoted = (text: string): string => {
  const inner = /^(["'])(.*)\1$/s.exec(text)?.[2] ?? text;
  return inner.replace(/\\(.)/g, '$1');
};

const SHOWN = 80;
const shortened = (text: string): string =>
  (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text).replaceAll('\n', ' ');
