/** What one command of an image installs: `pip install` in all its forms, and the tools that install a project with its lock file. */
import { posix } from 'node:path';

export const STEP_FLAGS = ['--no-deps', '--upgrade', '--pre', '--force-reinstall', '--no-build-isolation'] as const;
export type StepFlag = (typeof STEP_FLAGS)[number];

export type PipCommand = {
  readonly flags: readonly StepFlag[];
  /** As lines of a requirements file, with paths as the command has them. */
  readonly lines: readonly string[];
  /** What of the command has no effect here. */
  readonly ignored: readonly string[];
};

const FLAG_OF: Readonly<Record<string, StepFlag>> = {
  ...Object.fromEntries(STEP_FLAGS.map((flag) => [flag, flag])),
  '-U': '--upgrade',
  '--no-dependencies': '--no-deps',
  '--reinstall': '--force-reinstall',
};
/** Options with a value that change where packages come from; a note tells that they are not used. */
const INDEX = new Set(['-i', '-f', '--index-url', '--extra-index-url', '--find-links', '--index', '--default-index']);
const FILES: Readonly<Record<string, string>> = {
  '-r': '-r',
  '--requirement': '-r',
  '--requirements': '-r',
  '-c': '-c',
  '--constraint': '-c',
  '--constraints': '-c',
  '-e': '-e',
  '--editable': '-e',
  '--override': '-c',
  '--overrides': '-c',
};
/** Options with a value that mean nothing here: the environment has one place and one interpreter. */
const WITH_VALUE =
  /^(?:-[tpd]|--(?:target|prefix|root|src|python|cache-dir|timeout|retries|trusted-host|proxy|cert|client-cert|progress-bar|upgrade-strategy|implementation|platform|python-version|abi|no-binary|only-binary|report|log|use-feature|index-strategy|keyring-provider|link-mode|resolution|prerelease|config-settings?|global-option|extra|group|exclude-newer|python-platform|torch-backend|no-build-package|no-binary-package|refresh-package|upgrade-package|allow-insecure-host))$/;

const isPip = (program: string): boolean => /^pip(?:3(?:\.\d+)?)?$/.test(program);
const isPython = (program: string): boolean => /^python(?:3(?:\.\d+)?)?$/.test(program);

/** Undefined when the command is no `pip install`. */
export function pipCommand(words: readonly string[]): PipCommand | undefined {
  const given = argumentsOfInstall(words);
  return given && readArguments(given);
}

function argumentsOfInstall(words: readonly string[]): readonly string[] | undefined {
  const program = posix.basename(words[0] ?? '');
  let rest: readonly string[] | undefined;
  if (isPip(program)) rest = words.slice(1);
  else if (isPython(program) && words[1] === '-m' && isPip(words[2] ?? '')) rest = words.slice(3);
  else if (program === 'uv' || (isPython(program) && words[1] === '-m' && words[2] === 'uv'))
    rest = uvPip(words.slice(program === 'uv' ? 1 : 3));
  if (rest === undefined) return undefined;
  const command = rest.findIndex((word) => !word.startsWith('-'));
  return rest[command] === 'install' ? [...rest.slice(0, command), ...rest.slice(command + 1)] : undefined;
}

/** `uv pip sync file` installs what the file names. */
function uvPip(words: readonly string[]): readonly string[] | undefined {
  const at = words.indexOf('pip');
  if (at === -1 || words.slice(0, at).some((word) => !word.startsWith('-'))) return undefined;
  const rest = words.slice(at + 1);
  if (rest[0] !== 'sync') return rest;
  return ['install', ...rest.slice(1).flatMap((word) => (word.startsWith('-') ? [word] : ['-r', word]))];
}

function readArguments(words: readonly string[]): PipCommand {
  const flags = new Set<StepFlag>();
  const lines: string[] = [];
  const ignored: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const [, option = word, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
    const next = (): string => value ?? words[(index += 1)] ?? '';
    const flag = FLAG_OF[option];
    const file = FILES[option] ?? FILES[/^-[rce](?=.)/.exec(word)?.[0] ?? ''];
    if (/^(?:\d?>|&>|<)/.test(word)) {
      // Where the shell writes the output to; a file name may follow.
      if (/^(?:\d?>{1,2}|&>|<)$/.test(word)) index += 1;
    } else if (flag !== undefined) flags.add(flag);
    else if (file !== undefined) lines.push(`${file} ${FILES[option] === undefined ? word.slice(2) : next()}`);
    else if (INDEX.has(option)) lines.push(`${option} ${next()}`);
    else if (WITH_VALUE.test(option)) next();
    else if (word.includes('$(') || word.includes('`')) ignored.push(word);
    else if (!word.startsWith('-') && word !== '') lines.push(word);
  }
  return { flags: STEP_FLAGS.filter((flag) => flags.has(flag)), lines, ignored };
}

/** Tools that install what a file of the current folder names, without naming it themselves. */
const PROJECT_TOOLS: readonly { pattern: RegExp; files: readonly string[] }[] = [
  { pattern: /^(?:python3? -m )?poetry (?:\S+ )*?(?:install|sync)(?: |$)/, files: ['pyproject.toml'] },
  { pattern: /^(?:python3? -m )?pdm (?:\S+ )*?(?:install|sync)(?: |$)/, files: ['pyproject.toml'] },
  { pattern: /^(?:python3? -m )?uv (?:\S+ )*?sync(?: |$)/, files: ['pyproject.toml'] },
  { pattern: /^(?:python3? -m )?pipenv (?:\S+ )*?(?:install|sync)(?: |$)/, files: ['Pipfile'] },
];

/** The file that the command installs from, and undefined for every other command. */
export function projectToolFile(words: readonly string[]): string | undefined {
  const text = words.slice(0, 20).join(' ').slice(0, 1_000);
  const conda = /^(?:micro)?(?:mamba|conda) (?:\S+ )*?(?:env )?(?:update|create|install)(?: |$)/.test(text);
  if (conda) {
    const at = words.findIndex((word) => word === '-f' || word === '--file');
    return at === -1 ? undefined : words[at + 1];
  }
  return PROJECT_TOOLS.find(({ pattern }) => pattern.test(text))?.files[0];
}

/** `poetry export -o FILE`, `uv export > FILE` and their like: the project file that FILE is made of. */
export function exportedFile(words: readonly string[]): { made: string; of: string } | undefined {
  const text = words.slice(0, 3).join(' ');
  const of = /^(?:poetry|uv|pdm) export/.test(text)
    ? 'pyproject.toml'
    : /^pipenv (?:requirements|lock)/.test(text)
      ? 'Pipfile'
      : undefined;
  if (of === undefined) return undefined;
  const at = words.findIndex((word) => /^(?:-o|--output|--output-file|>)$/.test(word));
  const made = at === -1 ? words.find((word) => /^>./.test(word))?.slice(1) : words[at + 1];
  return made === undefined ? undefined : { made, of };
}
