/** The commit of a project and its public address, which a version stores as its origin. */
import { ToolFailure, runTool } from '../build/run-tool.ts';
import type { Environment } from '../context.ts';

export type GitBundle = { version?: string; url?: string };

/** A git hook sets these for its own repository, which may be another one than the project's. */
const NOT_INHERITED = new Set(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX']);
const ANSWER_TIMEOUT_MS = 30_000;

/** Empty outside of a git checkout, without git, and for files that are in no commit. */
export async function gitBundle(options: { directory: string; env: Environment }): Promise<GitBundle> {
  const env = Object.fromEntries(Object.entries(options.env).filter(([name]) => !NOT_INHERITED.has(name)));
  const git = async (...words: string[]): Promise<string> => {
    const output = await runTool({
      program: 'git',
      arguments: ['--no-optional-locks', ...words],
      directory: options.directory,
      env: { ...env, LC_ALL: 'C' },
      timeoutMs: ANSWER_TIMEOUT_MS,
    });
    return output.trim();
  };
  try {
    const commit = await git('rev-parse', '--verify', 'HEAD');
    if ((await git('ls-files', '--', '.')) === '') return {};
    const changes = await git('status', '--porcelain', '--', '.');
    const url = publicUrl(await git('config', '--get', 'remote.origin.url').catch(orNothing));
    return { version: changes === '' ? commit : `${commit}-dirty`, ...(url !== undefined && { url }) };
  } catch (error) {
    if (error instanceof ToolFailure) return {};
    throw error;
  }
}

function orNothing(error: unknown): string {
  if (error instanceof ToolFailure) return '';
  throw error;
}

/**
 * Returns the address of a remote without secrets, because every reader of DAGs sees it. Paths on this machine are
 * omitted, because they mean nothing elsewhere.
 */
export function publicUrl(remote: string): string | undefined {
  // user@host:path, the short form of ssh, which has no password.
  const short = /^(?:[\w.-]+@)?([\w.-]+\.[\w.-]+|localhost):(?!\/\/)([^?#\s]+)$/.exec(remote);
  if (short) return `ssh://${short[1]}/${short[2]?.replace(/^\/+/, '')}`;
  const url = URL.parse(remote);
  if (url === null || !['https:', 'http:', 'ssh:', 'git:'].includes(url.protocol)) return undefined;
  return `${url.protocol}//${url.host}${url.pathname}`;
}
