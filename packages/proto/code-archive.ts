/**
 * The tree of a deployment by content: what the process that syncs a bundle sends, what the control plane stores, and
 * what agents fetch. The manifest is a JSON list of entries in the order of their paths, and its SHA-256 names the tree.
 */
import { createHash } from 'node:crypto';

export type TreeEntry =
  | { path: string; file: string; bytes: number; executable?: true }
  /** `link`: the relative target, which is in the tree. */
  | { path: string; link: string };

/** Files are stored and sent in parts of this size before compression. */
export const PART_BYTES = 1024 * 1024;
/** The most that an answer with parts contains. A single part may be larger by what incompressible data adds. */
export const MOST_ANSWER_BYTES = 4 * PART_BYTES;
export const MOST_PARTS_ASKED = 1_000;

/** An empty file has one part, too. */
export const partsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / PART_BYTES));

export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

export const isHash = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{64}$/.test(text);

const byPath = (a: TreeEntry, b: TreeEntry): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

export const manifestOf = (entries: readonly TreeEntry[]): string => JSON.stringify([...entries].sort(byPath));

/** The tree of a run names the folder from which its tasks import: "<hash>/<folder>". */
export const runTree = (hash: string, { file, source }: { file: string; source: string }): string =>
  `${hash}/${file.endsWith(`/${source}`) ? file.slice(0, -source.length - 1) : ''}`;

export const splitRunTree = (tree: string): { hash: string; folder: string } => ({
  hash: tree.slice(0, 64),
  folder: tree.slice(65),
});

/** Returns why the entries are refused. Every part of a path must be a plain name, and nothing may be below a link. */
export function manifestProblem(entries: readonly TreeEntry[]): string | undefined {
  const leaves = new Set(entries.map(({ path }) => path));
  if (leaves.size !== entries.length) return 'it names a path twice';
  for (const entry of entries) {
    const names = entry.path.split('/');
    if (entry.path.includes('\0') || names.some((name) => name === '' || name === '.' || name === '..'))
      return `it has the path ${JSON.stringify(entry.path.slice(0, 200))}`;
    for (let depth = 1; depth < names.length; depth += 1) {
      if (leaves.has(names.slice(0, depth).join('/'))) return `${entry.path.slice(0, 200)} is below a file or a link`;
    }
    if ('link' in entry) {
      if (entry.link === '' || entry.link.startsWith('/') || entry.link.includes('\0'))
        return `the link ${entry.path.slice(0, 200)} leads out`;
    } else if (!isHash(entry.file) || !Number.isSafeInteger(entry.bytes) || entry.bytes < 0)
      return `${entry.path.slice(0, 200)} has no content`;
  }
  return undefined;
}
