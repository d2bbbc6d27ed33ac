/** What a RUN instruction installs: Python packages as steps, Debian packages by name. What else it does is told in a note. */
import { posix } from 'node:path';
import { jsonWords, shortened, withOptions } from './dockerfile-lines.ts';
import { absolute } from './image-files.ts';
import type { RepositoryLook } from './image-files.ts';
import { exportedFile, pipCommand, projectToolFile } from './pip-command.ts';
import type { PipCommand } from './pip-command.ts';
import { insideRepository } from './settings.ts';
import { shellCommands } from './shell-words.ts';
import type { Lookup, ShellCommand } from './shell-words.ts';
import type { Stage } from './stage.ts';

type Run = {
  readonly stage: Stage;
  readonly rest: string;
  readonly line: number;
  readonly file: string;
  readonly look: RepositoryLook;
  /** Counts what variables are replaced by. */
  readonly lookup: (values: Lookup) => Lookup;
};

/** Commands that make room, or change nothing that is installed. */
const HARMLESS =
  /^(?:set|true|:|rm|mkdir|chown|chmod|cd|echo|export|deactivate|source|\.|which|umask|touch|exit|fi|then|done)(?: |$)/;
const HARMLESS_INSTALLERS =
  /^(?:(?:apt-get|apt)(?: -\S+)* (?:update|clean|autoclean|autoremove|upgrade|dist-upgrade)|(?:pip3?|uv|poetry) (?:cache|config|--version|check|list|freeze)|(?:python3?(?:\.\d+)? -m )?(?:virtualenv|venv)|uv venv)(?: |$)/;
const APT = /^(?:apt-get|apt)$/;
/** What runs the command that follows it. */
const PREFIXES = new Set(['sudo', 'exec', 'time', 'command', 'nice', 'yes']);
const MOST_SHELLS = 3;

export function readRun(run: Run): void {
  const { stage, line, file, lookup } = run;
  const { options, rest } = withOptions(run.rest);
  takeMount(run, options.get('mount'));
  const locals: Record<string, string> = {};
  const values = lookup((name) => locals[name] ?? stage.env[name] ?? stage.values[name]);
  const left: string[] = [];
  let folder = stage.workdir;

  function take({ words, pipes }: ShellCommand, depth: number): void {
    const command = withoutPrefixes(words, locals);
    const text = command.join(' ');
    const inner = depth < MOST_SHELLS ? innerShell(command) : undefined;
    if (command.length === 0) return;
    if (inner !== undefined) {
      for (const below of shellCommands(inner, values)) take(below, depth + 1);
      return;
    }
    const pip = pipCommand(command);
    const project = projectToolFile(command);
    const made = exportedFile(command);
    if (command[0] === 'cd') folder = absolute(command[1] ?? '', folder);
    else if (pip) takePip(pip, text);
    else if (made) {
      const from = stage.files.place(absolute(made.of, folder)) ?? made.of;
      stage.files.add({ to: absolute(made.made, folder), from });
    } else if (project !== undefined) {
      const path = stage.files.place(absolute(project, folder)) ?? project;
      stage.steps.push({ flags: [], lines: [{ text: `-r ${path}`, line }] });
    } else if (APT.test(command[0] ?? '') && command.includes('install')) {
      const names = command.slice(command.indexOf('install') + 1);
      stage.apt.push(...names.filter((name) => /^[a-z0-9]/.test(name)));
    } else if (!HARMLESS.test(text) && !HARMLESS_INSTALLERS.test(text)) left.push(pipes ? `${text} |` : text);
  }

  function takePip(pip: PipCommand, text: string): void {
    const lines = pip.lines.map((item) => ({ text: located(item, { ...run, folder }), line }));
    const isItself = lines.every(({ text: item }) =>
      /^(?:pip|setuptools|wheel|uv|poetry|pipenv|pdm)(?:[=<>~!].*)?$/.test(item),
    );
    if (pip.ignored.length > 0) left.push(text);
    if (lines.length > 0 && !isItself) stage.steps.push({ flags: pip.flags, lines });
  }

  const words = jsonWords(rest);
  for (const command of words ? [{ words, pipes: false }] : shellCommands(rest, values)) take(command, 0);
  if (left.length > 0)
    stage.notes.push({
      file,
      line,
      message: `is not carried out: ${left.map(shortened).join(' && ').replaceAll('| && ', '| ')}`,
    });
}

/** `--mount=type=bind,source=requirements.txt,target=/tmp/requirements.txt` is there like a copy. */
function takeMount({ stage }: Run, mount: string | undefined): void {
  const parts = new Map((mount ?? '').split(',').map((part) => part.split('=', 2) as [string, string]));
  const target = parts.get('target') ?? parts.get('dst') ?? parts.get('destination');
  const source = parts.get('source') ?? parts.get('src') ?? '.';
  if (parts.get('type') === 'bind' && target !== undefined && !parts.has('from'))
    stage.files.copy([source], target, stage.workdir);
}

/** Without `sudo -E`, `NAME=value` and the like; variables that are set for what follows are remembered. */
function withoutPrefixes(words: readonly string[], locals: Record<string, string>): readonly string[] {
  let at = 0;
  const isExport = words[0] === 'export' || words[0] === 'env';
  if (isExport) at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined) locals[name] = value;
    else if (PREFIXES.has(word)) while (words[at + 1]?.startsWith('-')) at += 1;
    else if (word === 'gosu') at += 1;
    else if (!['if', 'then', 'do', 'else', '!', '{'].includes(word)) break;
  }
  return words[0] === 'export' ? [] : words.slice(at);
}

/** What `bash -c '…'` and `su user -c '…'` run. */
function innerShell(words: readonly string[]): string | undefined {
  if (!/^(?:ba|da|z|k)?sh$|^su$|^runuser$/.test(posix.basename(words[0] ?? ''))) return undefined;
  const at = words.findIndex((word, index) => index > 0 && /^-[a-z]*c$/.test(word));
  return at === -1 ? undefined : words[at + 1];
}

/** With the path that the repository has, for the path that the image has. */
function located(text: string, { stage, folder, look }: Run & { folder: string }): string {
  const [, option = '', path = ''] = /^(?:(-[rce]) )?(.*)$/s.exec(text) ?? [];
  if (/^[a-z+]+:/.test(path) || (option === '' && !/^(?:\.{1,2}(?:\/|\[|$)|\/)/.test(path))) return text;
  const extras = path.endsWith(']') && path.includes('[') ? path.slice(path.indexOf('[')) : '';
  const plain = path.slice(0, path.length - extras.length);
  const found = stage.files.place(absolute(plain, folder));
  const isFile = option === '-r' || option === '-c';
  if (found !== undefined) return isFile ? `${option} ${found}` : `-e ./${found === '.' ? '' : found}${extras}`;
  // Files may have been moved by commands that are not carried out.
  const name = posix.basename(plain);
  if (isFile && look.kindOf(name) === 'file') return `${option} ${name}`;
  return isFile && plain.startsWith('/') ? `${option} ${insideRepository(plain) ?? plain.slice(1)}` : text;
}
