/** The files of a version in a folder for its replay: the DAG file as registered, and its modules from a working copy. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { CliError } from '../cli-error.ts';

/**
 * Returns the folder that paths of the version start from: the named one, or one above it, as when the folder of DAGs
 * of a repository is named.
 */
export function workingCopyAt(path: string, spec: CompiledSpec): string {
  const named = resolve(path);
  const places = [named, dirname(named), dirname(dirname(named))];
  return places.find((place) => existsSync(join(place, inside(spec.source.path)))) ?? named;
}

/** Returns the path of the DAG file. */
export function writeVersion(
  folder: string,
  { spec, text, workingCopy }: { spec: CompiledSpec; text: string; workingCopy: string },
): string {
  const { path, modules } = spec.source;
  const file = put(folder, path, text);
  const other: string[] = [];
  for (const { path: name, sha256 } of modules) {
    const place = resolve(workingCopy, inside(name));
    const content = existsSync(place) ? readFileSync(place) : undefined;
    if (content && createHash('sha256').update(content).digest('hex') === sha256) put(folder, name, content);
    else other.push(name);
  }
  if (other.length > 0) {
    throw new CliError(`${workingCopy} has other contents of modules than the version: ${other.join(', ')}`, {
      hint: 'check out the commit of the version and name its folder with --path, or replay the working copy with --edit',
    });
  }
  return file;
}

function put(folder: string, name: string, content: string | Buffer): string {
  const file = join(folder, inside(name));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** A path that an API answers must not lead out of the folder. */
function inside(name: string): string {
  const path = normalize(name);
  if (path.startsWith('/') || path.startsWith('..'))
    throw new CliError(`the version has a file outside of its folder: ${name}`);
  return path;
}
