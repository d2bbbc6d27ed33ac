/** What agents and replays read of the tree of a run: which files it has, and their parts as an answer carries them. */
import { MOST_ANSWER_BYTES } from '@svc/proto/code-archive.ts';
import type { TreeEntry } from '@svc/proto/code-archive.ts';
import type { TenantDb } from '../database.ts';
import { partSizes, readParts } from './archives.ts';

export type TreePart = { hash: string; part: number };

const keyOf = ({ hash, part }: TreePart): string => `${hash} ${part}`;

/** Returns the hashes of the files of a manifest. */
export const filesOfManifest = (manifest: string): ReadonlySet<string> =>
  new Set((JSON.parse(manifest) as TreeEntry[]).flatMap((entry) => ('file' in entry ? [entry.file] : [])));

/** A part is named `<hash of the file> <number>`. */
export const PART_NAME = /^([0-9a-f]{64}) ([0-9]{1,6})$/;

export function parsePart(name: string): TreePart | undefined {
  const [, hash, part] = PART_NAME.exec(name) ?? [];
  return hash === undefined ? undefined : { hash, part: Number(part) };
}

/**
 * Returns as many of the first parts as fit into an answer, at least one, compressed and in base64. Returns undefined if
 * one of them is not stored any more.
 */
export async function encodedParts(db: TenantDb, asked: readonly TreePart[]): Promise<string[] | undefined> {
  const sizes = new Map((await partSizes(db, asked)).map((one) => [keyOf(one), one.bytes]));
  let room = MOST_ANSWER_BYTES;
  const chosen = asked.filter((one, index) => {
    room -= sizes.get(keyOf(one)) ?? Infinity;
    return room >= 0 || index === 0;
  });
  const found = new Map((await readParts(db, chosen)).map((one) => [keyOf(one), one.data]));
  const parts = chosen.flatMap((one) => found.get(keyOf(one))?.toString('base64') ?? []);
  return parts.length === chosen.length ? parts : undefined;
}
