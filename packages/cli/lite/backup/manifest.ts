/** The description of a backup. It is the last entry of the archive, so an archive with a manifest is complete. */
import { createHash } from 'node:crypto';
import { VERSION } from '../../version.ts';

export const MANIFEST = 'manifest.json';
/** The version of the archive's layout. A later svc with another layout must still read this one. */
const FORMAT = 1;

export type FileSum = { readonly bytes: number; readonly sha256: string };

export type Manifest = {
  readonly format: number;
  readonly svc_version: string;
  /** The full version. Only the same major version can read a cluster. */
  readonly postgres_version: string;
  /** The archive contains the state of this moment, and nothing later. */
  readonly created_at: string;
  readonly files: Readonly<Record<string, FileSum>>;
};

export const makeManifest = (facts: Omit<Manifest, 'format' | 'svc_version'>): Manifest => ({
  format: FORMAT,
  svc_version: VERSION,
  ...facts,
});

/** Returns undefined if the text is not a valid manifest. */
export function readManifest(text: string): Manifest | undefined {
  try {
    const value = JSON.parse(text) as Partial<Manifest>;
    const isOurs =
      value.format === FORMAT &&
      [value.svc_version, value.postgres_version, value.created_at].every(isPlain) &&
      isObject(value.files) &&
      Object.values(value.files).every(isFileSum);
    return isOurs ? (value as Manifest) : undefined;
  } catch {
    return undefined;
  }
}

/** A version or a moment. It is printed as it is. */
const isPlain = (field: unknown): boolean => typeof field === 'string' && /^\P{Cc}{1,100}$/u.test(field);
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isFileSum = (value: unknown): boolean =>
  isObject(value) && 'bytes' in value && typeof value.bytes === 'number' && 'sha256' in value;

/** Passes content through and reports its size and checksum at the end. */
export async function* summed(
  content: AsyncIterable<Buffer> | Iterable<Buffer>,
  done: (sum: FileSum) => void,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  done({ bytes, sha256: hash.digest('hex') });
}

/** Describes the first difference between the manifest and the files, or returns undefined. */
export function firstDifference(manifest: Manifest, found: ReadonlyMap<string, FileSum>): string | undefined {
  for (const [path, { bytes, sha256 }] of Object.entries(manifest.files)) {
    const sum = found.get(path);
    if (!sum) return `${path} is missing`;
    if (sum.bytes !== bytes || sum.sha256 !== sha256) return `the checksum of ${path} is wrong`;
  }
  const extra = [...found.keys()].find((path) => !Object.hasOwn(manifest.files, path));
  return extra === undefined ? undefined : `${extra} is not in its list`;
}
