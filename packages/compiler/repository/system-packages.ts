/** Debian packages that a repository asks for, held against those of this machine. */
import { execFileSync } from 'node:child_process';
import type { Note } from './requirement-line.ts';

let asked: ReadonlySet<string> | undefined;

/** Undefined where there is nobody to ask. */
function installedPackages(): ReadonlySet<string> | undefined {
  try {
    const output = execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Abbrev} ${Package}\n'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 16 * 1024 * 1024,
    });
    return new Set(output.split('\n').flatMap((line) => /^ii\s+(\S+)/.exec(line)?.[1] ?? []));
  } catch {
    return undefined;
  }
}

export function missingSystemPackages(names: readonly string[]): Note[] {
  if (names.length === 0) return [];
  asked ??= installedPackages();
  const missing = names.filter((name) => asked?.has(name.replace(/[:=].*$/, '')) === false);
  if (missing.length === 0) return [];
  const plural = missing.length === 1 ? 'is' : 'are';
  const message = `${missing.join(', ')} ${plural} not installed on this machine, where tasks of svc lite run: apt-get install ${missing.join(' ')}. An image that svc builds has them`;
  return [{ file: 'packages.txt', line: null, message }];
}
