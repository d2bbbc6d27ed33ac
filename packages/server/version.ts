import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

type PackageManifest = { version: string; commit?: string };

const manifest = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as PackageManifest;

export const VERSION = manifest.version;

/** The commit from which this was packaged, or on which a checkout with git runs. SVC_GIT_VERSION overrides it. */
export function gitVersion(): string {
  return process.env['SVC_GIT_VERSION'] || manifest.commit || (described ??= describeCheckout());
}

/** Read once: what this process runs does not change, whatever happens to the checkout. */
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
