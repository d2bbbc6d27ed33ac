/**
 * A clock that a test can set, for programs started with `env`: libfaketime, from Debian's package faketime. Only the date
 * moves; the steady clock goes on, as when a person or a time service sets a machine's clock.
 */
import { chmodSync, globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type SettableClock = {
  readonly env: Record<string, string>;
  /** Seconds ahead of the real time, or behind it. */
  set(seconds: number): void;
};

/** `python` stays at the real time: with this library its own sleep fails. */
export function createSettableClock({ directory, python }: { directory: string; python: string }): SettableClock {
  const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
  if (library === undefined) throw new Error('libfaketime is missing: apt install faketime');
  const file = join(directory, 'clock');
  const plainPython = join(directory, 'python');
  const set = (seconds: number): void => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  set(0);
  writeFileSync(plainPython, `#!/bin/sh\nunset LD_PRELOAD\nexec '${python}' "$@"\n`);
  chmodSync(plainPython, 0o755);
  return {
    set,
    env: {
      SVC_PYTHON: plainPython,
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  };
}
