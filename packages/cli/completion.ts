/** Completion scripts, generated from the command tree. They complete whole words and never call a server. */
import { subcommandsOf } from './svc-command.ts';
import type { SvcCommand } from './svc-command.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

type Place = {
  /** The path of a command, for example `connections set`. It is empty at the top. */
  readonly path: string;
  readonly commands: readonly SvcCommand[];
  readonly options: readonly { readonly flag: string; readonly description: string }[];
};

export function renderCompletion(program: SvcCommand, shell: Shell): string {
  const places = placesOf(program, '');
  return shell === 'fish'
    ? fish(places)
    : shell === 'zsh'
      ? `autoload -U +X bashcompinit && bashcompinit\n${bash(places)}`
      : bash(places);
}

function placesOf(command: SvcCommand, path: string): Place[] {
  const commands = subcommandsOf(command);
  const options = command.options
    .filter((option) => option.long !== undefined)
    .map((option) => ({ flag: option.long ?? '', description: option.description }));
  const help = { flag: '--help', description: 'show help' };
  return [
    { path, commands, options: [...options, help] },
    ...commands.flatMap((child) => placesOf(child, `${path} ${child.name()}`.trim())),
  ];
}

/**
 * The longest command path among the typed words decides what may follow. zsh runs the same script through
 * bashcompinit.
 */
function bash(places: readonly Place[]): string {
  const cases = places.map(({ path, commands, options }) => {
    const words = [...commands.map((child) => child.name()), ...options.map(({ flag }) => flag)];
    return `    '${path}') words='${words.join(' ')}' ;;`;
  });
  const paths = places.map(({ path }) => `'${path}'`).filter((path) => path !== "''");
  return `# svc completion
_svc() {
  local path='' word words='' known
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    for known in ${paths.join(' ')}; do
      if [ "$known" = "\${path:+$path }$word" ]; then path="$known"; break; fi
    done
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _svc svc
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const names = commands.map((child) => child.name());
    const condition = fishCondition(path, names);
    return [
      ...commands.map(
        (child) => `complete -c svc -n '${condition}' -f -a ${child.name()} -d '${escaped(child.description())}'`,
      ),
      ...options.map(({ flag, description }) => {
        return `complete -c svc -n '${fishCondition(path, [])}' -l ${flag.slice(2)} -d '${escaped(description)}'`;
      }),
    ];
  });
  return `# svc completion\n${lines.join('\n')}\n`;
}

/** True if all words of the path were typed, and no word that continues it. */
function fishCondition(path: string, further: readonly string[]): string {
  if (path === '') return '__fish_use_subcommand';
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const not = further.length === 0 ? [] : [`not __fish_seen_subcommand_from ${further.join(' ')}`];
  return [...seen, ...not].join('; and ');
}

const escaped = (text: string): string => text.replaceAll(/[\\']/g, String.raw`\$&`);
