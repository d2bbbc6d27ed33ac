/** Which commit a project is, and where it can be found: what a version remembers of where it came from. */
import { ToolFailure, runTool } from '../build/run-tool.ts';
import type { Environment } from '../context.ts';

export type GitBundle = { version?: string; url?: string };

/** A hook of git sets these to its own repository, which need not be the project's. */
const NOT_INHERITED = new Set(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX']);
const ANSWER_TIMEOUT_MS = 30_000;

/** Empty outside of a git checkout, without git, and for files that no commit has. */
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
 * The address of a remote without anything secret: versions are shown to everybody who may read DAGs. Paths on this
 * machine say nothing to others and are left out.
 */
export function publicUrl(remote: string): string | undefined {
  // user@host:path, the short form of ssh; it has no place for a password.
  const short = /^(?:[\w.-]+@)?([\w.-]+\.[\w.-]+|localhost):(?!\/\/)([^?#\s]+)$/.exec(remote);
  if (short) return `ssh://${short[1]}/${short[2]?.replace(/^\/+/, '')}`;
  const url = URL.parse(remote);
  if (url === null || !['https:', 'http:', 'ssh:', 'git:'].includes(url.protocol)) return undefined;
  return `${url.protocol}//${url.host}${url.pathname}`;
}
