/** Real git repositories for tests: a bare one on disk, and commits that are pushed to it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type GitRepository = {
  /** The path of the bare repository. */
  url: string;
  /** A checkout, in which a test may run any git command. */
  checkout: string;
  git(...words: string[]): string;
  /** Writes the files (null removes one), commits and pushes. Returns the commit. */
  push(files: Record<string, string | null>, message?: string): string;
  [Symbol.dispose](): void;
};

export function createGitRepository(): GitRepository {
  const root = mkdtempSync(join(tmpdir(), 'svc-git-repository-'));
  const [url, checkout] = [join(root, 'dags.git'), join(root, 'checkout')];
  const env = {
    PATH: process.env['PATH'],
    HOME: root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
  const run = (cwd: string, words: string[]): string =>
    execFileSync('git', ['-c', 'protocol.file.allow=always', ...words], { cwd, env, encoding: 'utf8', stdio: 'pipe' });
  const git = (...words: string[]): string => run(checkout, words).trim();
  run(root, ['init', '--quiet', '--bare', '--initial-branch=main', url]);
  // As forges do.
  run(url, ['config', 'uploadpack.allowFilter', 'true']);
  run(url, ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
  run(root, ['init', '--quiet', '--initial-branch=main', checkout]);
  git('remote', 'add', 'origin', url);
  return {
    url,
    checkout,
    git,
    push(files, message = 'Change DAGs') {
      for (const [name, text] of Object.entries(files)) {
        const path = join(checkout, name);
        if (text === null) rmSync(path, { recursive: true });
        else {
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, text);
        }
      }
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', '-m', message);
      git('push', '--quiet', '--force', 'origin', 'HEAD');
      return git('rev-parse', 'HEAD');
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
