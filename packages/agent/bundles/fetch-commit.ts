/** Finds the commit that a branch or tag names, and fetches its files into the cache, without history. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BundleJob } from '@svc/proto/bundle-job.ts';
import { SourceError } from './git.ts';
import type { Git } from './git.ts';

export type RemoteCommit = { version: string; ref: string };

/** Each fetch adds a pack. With more than these, the cache is made again. */
const MOST_PACKS = 40;

export async function findRemoteCommit(git: Git, { url, ref }: Pick<BundleJob, 'url' | 'ref'>): Promise<RemoteCommit> {
  const names = ref === '' ? ['HEAD'] : [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/tags/${ref}^{}`];
  const listed = await git.run(['ls-remote', '--', url, ...names], { network: true });
  const found = new Map(
    listed
      .split('\n')
      .map((line) => line.split('\t'))
      .flatMap(([id = '', name = '']) => (/^[0-9a-f]{40,64}$/.test(id) ? [[name, id] as const] : [])),
  );
  const branch = names[0] ?? '';
  // The name of an annotated tag leads to the tag, and `^{}` to its commit.
  const version = found.get(branch) ?? found.get(`refs/tags/${ref}^{}`) ?? found.get(`refs/tags/${ref}`);
  if (version === undefined) {
    throw new SourceError(
      ref === '' ? 'the repository has no commit' : `the repository has no branch and no tag "${ref}"`,
    );
  }
  return { version, ref: found.has(branch) ? branch : `refs/tags/${ref}` };
}

/** Needs the network only if the cache lacks the commit. */
export async function fetchCommit(
  git: Git,
  { job, repository, commit }: { job: BundleJob; repository: string; commit: RemoteCommit },
): Promise<void> {
  if (isWornOut(repository, job.limits.totalBytes)) rmSync(repository, { recursive: true, force: true });
  if (!existsSync(join(repository, 'HEAD'))) await git.run(['init', '--quiet', '--bare', repository]);
  await git.run(['config', 'remote.origin.url', job.url]);
  const hasCommit = await git.run(['cat-file', '-e', `${commit.version}^{commit}`]).then(
    () => true,
    () => false,
  );
  if (hasCommit && (await missingFiles(git, commit.version)) !== undefined) return;
  const filter = `--filter=blob:limit=${job.limits.fileBytes}`;
  const options = ['--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--force', filter];
  const what = `+${commit.ref}:refs/svc/newest`;
  await git.run(['fetch', ...options, 'origin', what], { network: true });
  const fetched = (await git.run(['rev-parse', '--verify', 'refs/svc/newest^{commit}'])).trim();
  // The branch has moved since it was looked at, or the commit is an older one.
  if (fetched !== commit.version) await git.run(['fetch', ...options, 'origin', commit.version], { network: true });
}

/**
 * Returns the ids of files that were too large to be sent, without asking for them. Undefined when the cache is
 * incomplete.
 */
export function missingFiles(git: Git, version: string): Promise<ReadonlySet<string> | undefined> {
  const list = ['rev-list', '--objects', '--no-object-names', '--no-walk', '--missing=print', version];
  return git.run(list).then(
    (text) => new Set(text.split('\n').flatMap((line) => (line.startsWith('?') ? [line.slice(1).trim()] : []))),
    () => undefined,
  );
}

function isWornOut(repository: string, totalBytes: number): boolean {
  const packs = join(repository, 'objects', 'pack');
  if (!existsSync(packs)) return false;
  const sizes = readdirSync(packs).map((name) => statSync(join(packs, name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.length > 3 * MOST_PACKS || sizes.reduce((sum, size) => sum + size, 0) > 3 * totalBytes;
}

export type CommitFacts = { author: string; message: string; committedAt: string | null };

const LONGEST_MESSAGE = 2_000;

export async function readCommit(git: Git, version: string): Promise<CommitFacts> {
  const text = await git.run(['log', '-1', '--no-show-signature', '--format=%an <%ae>%x00%cI%x00%B', version]);
  const [author = '', at = '', message = ''] = text.split('\0');
  return {
    author: author.slice(0, 200),
    message: message.trim().slice(0, LONGEST_MESSAGE),
    committedAt: Number.isNaN(Date.parse(at)) ? null : at,
  };
}
