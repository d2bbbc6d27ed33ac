/** Files of names and values in the form of `airflow connections export` and `airflow variables export`. */
import { writeFileSync, chmodSync } from 'node:fs';
import { extname } from 'node:path';
import { parseExact } from '@svc/spec/exact-json.ts';
import { FILE_LIMITS, FileLimitError, tooLarge } from '@svc/spec/files/limits.ts';
import { readBytes } from '@svc/spec/files/read-text.ts';
import { readJson } from '@svc/server/vault/json-text.ts';
import type { JsonNode } from '@svc/server/vault/json-text.ts';
import { CliError, messageOf, usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { readStdin, utf8Of } from '../prompt.ts';
import { parseEnvFile, writeEnvFile } from './env-file.ts';

export const FORMATS = ['json', 'yaml', 'env'] as const;
export type FileFormat = (typeof FORMATS)[number];

/** JSON and YAML contain trees, an env file contains text. Numbers in JSON keep their digits. */
export type FileEntry = { readonly name: string; readonly value: JsonNode | string };

export function formatOf(path: string | undefined, given: FileFormat | undefined): FileFormat {
  if (given !== undefined) return given;
  const extension = path === undefined ? '' : extname(path).toLowerCase() || (path.endsWith('.env') ? '.env' : '');
  switch (extension) {
    case '.yaml':
    case '.yml':
      return 'yaml';
    case '.env':
      return 'env';
    case '.json':
    case '':
      return 'json';
    default:
      throw usageError(`${path}: the format does not follow from the name`, 'give --format json, yaml or env');
  }
}

export async function readEntries(context: CliContext, path: string, format: FileFormat): Promise<FileEntry[]> {
  const shown = path === '-' ? 'standard input' : path;
  const text = path === '-' ? await readStdin(context) : readImportFile(path);
  try {
    const bytes = Buffer.byteLength(text);
    if (bytes > FILE_LIMITS.importFile.bytes) throw tooLarge('importFile', shown, bytes);
    return refuseRepeated(await parseEntries(text.replace(/^\uFEFF/, ''), format));
  } catch (error) {
    if (error instanceof FileLimitError) throw usageError(`${shown}: ${error.message}`, error.instead);
    if (error instanceof CliError) throw usageError(`${shown}: ${error.message}`, error.hint);
    throw error;
  }
}

/** Returns the text of a file that a command imports. */
export function readImportFile(path: string): string {
  try {
    return utf8Of(readBytes('importFile', path, path));
  } catch (error) {
    if (error instanceof FileLimitError) throw usageError(`${path} ${error.message}`, error.instead);
    throw usageError(`the file cannot be read: ${messageOf(error)}`);
  }
}

export async function parseEntries(text: string, format: FileFormat): Promise<FileEntry[]> {
  if (format === 'env') return parseEnvFile(text).map(([name, value]) => ({ name, value }));
  const node = readJson(format === 'yaml' ? JSON.stringify(await parseYaml(text)) : text);
  if (node === 'not-json') throw usageError('not valid JSON');
  if (node === 'too-deep') throw usageError('nested too deeply');
  if (node.kind !== 'object') throw usageError('the file must be a map of names to values');
  return node.entries.map(([name, value]) => ({ name, value }));
}

async function parseYaml(text: string): Promise<unknown> {
  const { YamlValueError, readYaml } = await import('@svc/spec/files/yaml.ts');
  const read = readYaml(text, {
    kind: 'importFile',
    file: '',
    intAsBigInt: true,
    number(value, source) {
      if (typeof value === 'bigint') return parseExact(String(value));
      if (JSON_NUMBER.test(source)) return parseExact(source);
      if (Number.isFinite(value)) return value;
      throw new YamlValueError(`${source} is no JSON number: write it as text, in quotes`);
    },
  });
  if (read.ok) return read.value;
  const [problem] = read.problems;
  // The message has the place and the problem, but not the text, which may contain secrets.
  throw usageError(`not valid YAML: line ${problem?.line}: ${problem?.message}`, problem?.instead || undefined);
}

/** YAML has more forms of numbers than JSON. A number in a form that both have keeps its digits. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function refuseRepeated(entries: FileEntry[]): FileEntry[] {
  const seen = new Set<string>();
  for (const { name } of entries) {
    if (seen.has(name)) throw usageError(`${shownName(name)} is there twice: keep one of them`);
    seen.add(name);
  }
  return entries;
}

const LONGEST_NAME = 100;

/** A name in a message: a file may have one of many MiB. */
export const shownName = (name: string): string =>
  JSON.stringify(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);

export type ExportedEntry = { readonly name: string; readonly value: unknown };

/** With `env`, every value must already be text. */
export async function renderEntries(entries: readonly ExportedEntry[], format: FileFormat): Promise<string> {
  if (format === 'env') return writeEnvFile(entries.map(({ name, value }) => [name, String(value)] as const));
  // The map has no prototype, so that a name such as __proto__ is an ordinary name.
  const map = Object.create(null) as Record<string, unknown>;
  for (const { name, value } of entries) map[name] = value;
  if (format === 'json') return `${JSON.stringify(map, null, 2)}\n`;
  const { stringify } = await import('yaml');
  return entries.length === 0 ? '{}\n' : stringify(map);
}

/** Writes to a file that only its owner can read, or to standard output. */
export function writeOutput(context: CliContext, path: string | undefined, text: string): void {
  if (path === undefined || path === '-') {
    context.stdout.write(text);
    return;
  }
  try {
    writeFileSync(path, text, { mode: 0o600 });
    chmodSync(path, 0o600); // the mode above applies only to new files
  } catch (error) {
    throw new CliError(`the file cannot be written: ${messageOf(error)}`);
  }
}
