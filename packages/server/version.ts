import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

type PackageManifest = { version: string; commit?: string };

const manifest = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as PackageManifest;

export const VERSION = manifest.version;

/** The commit this was packaged from, or runs from where there is a checkout and git to ask. SVC_GIT_VERSION overrides. */
export function gitVersion(): string {
  return process.env['SVC_GIT_VERSION'] || manifest.commit || (described ??= describeCheckout());
}

/** Asked once: what this process runs does not change, whatever becomes of the checkout. */
let described: string | undefined;

function describeCheckout(): string {
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
