/**
 * Receives the tree of a commit from the process that syncs it, and stores what is missing. Nothing that this process
 * names is believed: a file counts when its parts have the hash that it has been announced with.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { PART_BYTES, isHash, manifestOf, manifestProblem, partsOf, sha256 } from '@svc/proto/code-archive.ts';
import type { TreeEntry } from '@svc/proto/code-archive.ts';
import { completeFile, missingFilesOf, storePart, storeTree } from '../db/bundles/archives.ts';
import type { TenantDb } from '../db/database.ts';

const inflated = promisify(inflate);

export type ArchiveStore = {
  /** Returns the hashes of files that are not stored yet. */
  announce(entries: readonly TreeEntry[]): Promise<string[]>;
  /** Parts of a file come in their order. */
  put(part: { hash: string; part: number; data: Buffer }): Promise<void>;
  /** Stores the tree when all its files are stored. Returns its hash. */
  finish(): Promise<string>;
};

export class ArchiveError extends Error {}

export function createArchiveStore(db: TenantDb): ArchiveStore {
  let tree: readonly TreeEntry[] | undefined;
  /** By hash: the size of the file. */
  const missing = new Map<string, number>();
  const receiving = new Map<string, { next: number; hasher: ReturnType<typeof createHash> }>();

  return {
    async announce(entries) {
      const problem = manifestProblem(entries);
      if (problem !== undefined) throw new ArchiveError(`the list of files is refused: ${problem}`);
      tree = entries;
      const sizes = new Map(entries.flatMap((entry) => ('file' in entry ? [[entry.file, entry.bytes] as const] : [])));
      const lacking = await missingFilesOf(db, [...sizes.keys()]);
      for (const hash of lacking) missing.set(hash, sizes.get(hash) ?? 0);
      return lacking;
    },
    async put({ hash, part, data }) {
      const bytes = isHash(hash) ? missing.get(hash) : undefined;
      const state = receiving.get(hash) ?? { next: 0, hasher: createHash('sha256') };
      if (bytes === undefined || part !== state.next) throw new ArchiveError('a part of a file was not asked for');
      receiving.set(hash, { ...state, next: part + 1 });
      state.hasher.update(await inflated(data, { maxOutputLength: PART_BYTES }));
      await storePart(db, { hash, part, data });
      if (part + 1 < partsOf(bytes)) return;
      receiving.delete(hash);
      if (state.hasher.digest('hex') !== hash) throw new ArchiveError('a file was changed while it was sent');
      await completeFile(db, hash);
      missing.delete(hash);
    },
    async finish() {
      if (!tree || missing.size > 0) throw new ArchiveError('files of the commit were not sent');
      const manifest = manifestOf(tree);
      const hash = sha256(manifest);
      await storeTree(db, { hash, manifest });
      return hash;
    },
  };
}
