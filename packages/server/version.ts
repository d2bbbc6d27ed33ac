import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

export const VERSION = manifest.version;

/** The commit this runs from, where there is a checkout and git to ask; a packaged build sets SVC_GIT_VERSION. */
export function gitVersion(): string {
  if (process.env['SVC_GIT_VERSION']) return process.env['SVC_GIT_VERSION'];
  try {
    const cwd = new URL('.', import.meta.url).pathname;
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return VERSION;
  }
}
