/** `NAME=value` files. Values that one plain line cannot hold are written in double quotes with JSON's escapes. */
import { usageError } from '../cli-error.ts';

export function parseEnvFile(text: string): [name: string, value: string][] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '' || line.trimStart().startsWith('#')) return [];
    const match = /^\s*(?:export\s+)?(?<name>[^\s=]+)\s*=(?<value>.*)$/u.exec(line);
    const { name, value } = match?.groups ?? {};
    // The message omits the line, which may contain a secret.
    if (name === undefined || value === undefined) throw usageError(`line ${index + 1} is not NAME=value`);
    return [[name, unquoted(value.trim(), index + 1)]];
  });
}

function unquoted(value: string, line: number): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1);
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    throw usageError(`line ${line}: the value begins with a double quote but does not end as one`);
  }
}

export function writeEnvFile(entries: readonly (readonly [name: string, value: string])[]): string {
  return entries
    .map(([name, value]) => `${envName(name)}=${isPlain(value) ? value : JSON.stringify(value)}\n`)
    .join('');
}

const isPlain = (value: string): boolean => value === value.trim() && !/^['"]|[\r\n\u2028\u2029]/.test(value);

function envName(name: string): string {
  if (/^[^\s=#'"][^\s=]*$/u.test(name)) return name;
  throw usageError(`${JSON.stringify(name)} cannot be a name in an env file`, 'export as JSON or YAML instead');
}
