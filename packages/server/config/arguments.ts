import { definitionOf } from './keys.ts';
import { keyOfFlag } from './read-flags.ts';

const BOOLEAN_WORD = /^(true|false|1|0|yes|no|on|off)$/i;

export interface SplitArguments {
  /** Input of `loadConfig`. A flag without a value has an empty list, which loadConfig reports. */
  readonly flags: Readonly<Record<string, readonly string[]>>;
  /** All other arguments, unchanged and in order, for the parser of the command. */
  readonly rest: readonly string[];
}

/**
 * Takes the configuration flags (`--server.http-addr :8080`, `--auth.dev-no-auth`, `--secret-key=…`) out of a command
 * line. An unknown dotted name is taken as well, so that the error can suggest the nearest key.
 */
export function takeConfigFlags(argv: readonly string[]): SplitArguments {
  const flags: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  const rest: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const argument = argv[index] ?? '';
    if (argument === '--') {
      rest.push(...argv.slice(index));
      break;
    }
    const { name, inline } = splitFlag(argument);
    if (name === undefined) {
      rest.push(argument);
      continue;
    }
    const values = (flags[name] ??= []);
    const next = argv[index + 1];
    if (inline !== undefined) {
      values.push(inline);
    } else if (next !== undefined && isValueFor(name, next)) {
      values.push(next);
      index += 1;
    } else if (isBoolean(name)) {
      values.push('true');
    }
  }
  return { flags, rest };
}

function splitFlag(argument: string): { name: string | undefined; inline: string | undefined } {
  const match = /^--(?<name>[^=]+)(?:=(?<value>[\s\S]*))?$/.exec(argument);
  const name = match?.groups?.['name'] ?? '';
  const isOurs = keyOfFlag(name) !== undefined || /^[a-z_-]+\.[a-z_.-]+$/i.test(name);
  return isOurs ? { name, inline: match?.groups?.['value'] } : { name: undefined, inline: undefined };
}

function isBoolean(name: string): boolean {
  const key = keyOfFlag(name);
  return key !== undefined && definitionOf(key).type === 'bool';
}

/**
 * True if the next word is the value of the flag. A boolean flag takes only a boolean, so `--scheduler.enabled deploy`
 * leaves `deploy` alone.
 */
function isValueFor(name: string, next: string): boolean {
  return isBoolean(name) ? BOOLEAN_WORD.test(next) : !next.startsWith('--');
}
