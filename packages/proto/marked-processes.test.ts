import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findAccount } from './task-user.ts';

const MARK = `mark-${process.pid}`;
const user = process.getuid?.() === 0 ? findAccount('nobody') : undefined;
const task = spawn('sleep', ['600'], { ...user, cwd: '/', env: { PATH: process.env['PATH'], SVC_WORKER: MARK } });
/** Closed to others, as the Python processes of svc are: its mark is in its arguments alone. */
const CLOSED = 'import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); input()';
const closed = spawn('python3', ['-c', CLOSED, '--mark', `SVC_WORKER=${MARK}-closed`], { cwd: '/' });
afterAll(() => [task, closed].forEach((process) => process.kill('SIGKILL')));

/** Started as root of a container is, without the right to look into other users' processes. */
function find(name: string, value: string): number[] {
  const module = join(import.meta.dirname, 'marked-processes.ts');
  const script = `const { ${name} } = await import(${JSON.stringify(module)});
    console.log(JSON.stringify(await ${name}('SVC_WORKER', ${JSON.stringify(value)}, ${JSON.stringify(user)})));`;
  const argv = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script];
  const container = user
    ? ['setpriv', '--bounding-set', '-sys_ptrace,-perfmon,-sys_admin', process.execPath]
    : [process.execPath];
  const [program = '', ...before] = container;
  return JSON.parse(execFileSync(program, [...before, ...argv], { encoding: 'utf8' })) as number[];
}

describe('processes of a worker, by their mark', () => {
  it('are found and ended, though they are another user’s and the kernel shows that user’s environments to nobody else', async () => {
    await expect.poll(() => find('markedProcesses', MARK)).toEqual([task.pid]);
    expect(find('markedProcesses', MARK.slice(0, -1))).toEqual([]); // the whole mark counts
    const ended = new Promise((resolve) => task.once('exit', (_, signal) => resolve(signal)));
    expect(find('endMarkedProcesses', MARK)).toEqual([]);
    expect(await ended).toBe('SIGKILL');
  });

  it('are found by their arguments where their environment is closed to us', async () => {
    await expect.poll(() => find('markedProcesses', `${MARK}-closed`)).toEqual([closed.pid]);
    expect(find('markedProcesses', `${MARK}-clos`)).toEqual([]);
  });
});
