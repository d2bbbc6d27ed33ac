import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';

const NAMESPACES = join(import.meta.dirname, 'namespaces.ts');

/** A program that runs the command in namespaces of its own. The command is part of its command line. */
function start(state: string, command: readonly string[]) {
  const source = `import { runInNamespaces } from ${JSON.stringify(NAMESPACES)};
process.exit(await runInNamespaces(${JSON.stringify(state)}, () => ${JSON.stringify(command)}));`;
  return spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: ['ignore', 'ignore', 'inherit'] });
}

const newState = (): string => mkdtempSync(join(tmpdir(), 'svc-cluster-test-'));
const cgroupsOf = (state: string): string[] =>
  globSync(`/sys/fs/cgroup/{,*/}${basename(state)}*`, { exclude: (path) => path.includes('/kubepods') });
const processesWith = (words: string): string[] =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(words));

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // it has just ended
  }
}

it('what runs in the namespaces gives its exit code, and leaves nothing', async () => {
  const state = newState();
  const [code] = (await once(start(state, ['sh', '-c', 'mount -t tmpfs svc-test /mnt; exit 7']), 'exit')) as [number];
  expect({ code, state: existsSync(state), cgroups: cgroupsOf(state) }).toEqual({ code: 7, state: false, cgroups: [] });
});

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'whoever started them may be ended by %s, and nothing is left',
  async (signal) => {
    const state = newState();
    const marker = `1${Date.now()}`;
    // Something in the background that left its session, something mounted and something on the network.
    const command = `mount -t tmpfs svc-test /mnt && ip link add svc-test type bridge && (setsid sleep ${marker} &)
    touch ${state}/busy; sleep ${marker}`;
    const owner = start(state, ['sh', '-c', command]);
    const ended = once(owner, 'exit');
    try {
      await eventually(() => existsSync(join(state, 'busy')));
      expect(cgroupsOf(state)).not.toEqual([]);
      expect(processesWith(marker)).not.toEqual([]);
    } finally {
      owner.kill(signal);
      await eventually(() => !existsSync(state));
    }
    await ended;
    await eventually(() => expect(processesWith(marker)).toEqual([]));
    await eventually(() => expect(cgroupsOf(state)).toEqual([]));
    // By what is mounted, at the start of a line: folders of other mounts may have any name.
    expect(readFileSync('/proc/mounts', 'utf8')).not.toMatch(/^svc-test /m);
    expect(existsSync('/sys/class/net/svc-test')).toBe(false);
  },
);
