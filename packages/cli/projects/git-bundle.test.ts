import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { describe, expect, it } from 'vitest';
import { gitBundle, publicUrl } from './git-bundle.ts';

const env = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

function checkout(files: Record<string, string>): { root: string; git: (...words: string[]) => string } {
  const root = workspaceOf(files);
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, env, encoding: 'utf8' }).trim();
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  return { root, git };
}

describe('the commit of a project', () => {
  it('is that of its checkout, and dirty only through files of its own', async () => {
    const { root, git } = checkout({ 'a/dag.py': '1', 'b/dag.py': '2' });
    const commit = git('rev-parse', 'HEAD');
    writeFileSync(join(root, 'a/new.py'), '');
    expect(await gitBundle({ directory: join(root, 'a'), env })).toEqual({ version: `${commit}-dirty` });
    expect(await gitBundle({ directory: join(root, 'b'), env })).toEqual({ version: commit });
  });

  it('is not that of a repository around it which does not know it', async () => {
    const { root } = checkout({ '.gitignore': 'ignored/', 'x.py': '' });
    const inside = join(root, 'ignored');
    execFileSync('mkdir', [inside]);
    writeFileSync(join(inside, 'dag.py'), '');
    expect(await gitBundle({ directory: inside, env })).toEqual({});
  });

  it('is nothing without git, without a repository and without a commit', async () => {
    const root = workspaceOf({ 'dag.py': '' });
    expect(await gitBundle({ directory: root, env: { ...env, GIT_CEILING_DIRECTORIES: root } })).toEqual({});
    expect(await gitBundle({ directory: root, env: { PATH: '/nonexistent' } })).toEqual({});
    execFileSync('git', ['init', '-q'], { cwd: root, env });
    expect(await gitBundle({ directory: root, env })).toEqual({});
  });

  it('is its own also when a hook of another repository deploys it', async () => {
    const { root, git } = checkout({ 'dag.py': '1' });
    const other = checkout({ 'dag.py': '2' });
    const hook = { ...env, GIT_DIR: join(other.root, '.git'), GIT_WORK_TREE: other.root };
    expect(await gitBundle({ directory: root, env: hook })).toEqual({ version: git('rev-parse', 'HEAD') });
  });

  it('comes with the address of its remote, without the password in it', async () => {
    const { root, git } = checkout({ 'dag.py': '' });
    git('remote', 'add', 'origin', 'https://ana:s3cret@git.example.com/team/dags.git');
    const { url } = await gitBundle({ directory: root, env });
    expect(url).toBe('https://git.example.com/team/dags.git');
  });
});

describe('the address of a remote', () => {
  it.each([
    ['https://token@git.example.com/a.git', 'https://git.example.com/a.git'],
    ['https://git.example.com:8443/a.git?private_token=x#y', 'https://git.example.com:8443/a.git'],
    ['ssh://git:pw@git.example.com:22/a.git', 'ssh://git.example.com:22/a.git'],
    ['git@git.example.com:team/a.git', 'ssh://git.example.com/team/a.git'],
    ['/srv/git/a.git', undefined],
    ['file:///srv/git/a.git', undefined],
    ['../a.git', undefined],
    ['', undefined],
  ])('%s is shown as %s', (remote, shown) => {
    expect(publicUrl(remote)).toBe(shown);
  });
});
