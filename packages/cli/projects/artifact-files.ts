/**
 * Compiled specs as files, `<dag_id>.spec.json`. They contain the canonical bytes, so `sha256sum` prints the same hash.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { canonicalJson } from '@svc/spec/canonical.ts';
import { summary } from '@svc/spec/timetables/presentation.ts';
import { CliError, messageOf } from '../cli-error.ts';

export type CompiledArtifact = {
  dag_id: string;
  tasks: number;
  schedule: string | null;
  sha256: string;
  bytes: number;
  seconds: number;
  /** The canonical text. */
  text: string;
};

export function artifactsOf(units: readonly CompiledUnit[]): CompiledArtifact[] {
  return units.flatMap((unit) =>
    (unit.ok ? unit.artifacts : []).map(({ dagId, spec }) => {
      const text = canonicalJson(spec);
      return {
        dag_id: dagId,
        tasks: spec.tasks.length,
        schedule: summary(spec.schedule),
        sha256: createHash('sha256').update(text).digest('hex'),
        bytes: Buffer.byteLength(text),
        seconds: unit.seconds,
        text,
      };
    }),
  );
}

/** Writes a draft and renames it, so that a concurrent reader gets a complete file. Returns the path. */
export function writeArtifact(directory: string, artifact: CompiledArtifact): string {
  const path = join(directory, fileNameOf(artifact.dag_id));
  const draft = join(directory, `.${randomUUID()}.tmp`);
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(draft, artifact.text);
    renameSync(draft, path);
    return path;
  } catch (error) {
    if (existsSync(draft)) rmSync(draft);
    throw new CliError(`${path} cannot be written: ${messageOf(error)}`, { hint: 'name another directory with -o' });
  }
}

const SUFFIX = '.spec.json';
/** The maximum length of a file name in bytes. */
const LONGEST_NAME = 255;

/** Returns the file name of an id. If the id is too long, a hash of it replaces its end. */
export function fileNameOf(dagId: string): string {
  if (Buffer.byteLength(dagId + SUFFIX) <= LONGEST_NAME) return dagId + SUFFIX;
  const hash = createHash('sha256').update(dagId).digest('hex').slice(0, 12);
  const room = LONGEST_NAME - SUFFIX.length - hash.length - 1;
  let head = [...dagId];
  while (Buffer.byteLength(head.join('')) > room) head = head.slice(0, -1);
  return `${head.join('')}-${hash}${SUFFIX}`;
}
