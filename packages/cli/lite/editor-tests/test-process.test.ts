/** The limits of a process that runs author code for the editor. */
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { eventually } from '@svc/testing/eventually.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { MOST_OUTPUT_BYTES, startTestProcess } from './test-process.ts';

let python: string;
beforeAll(async () => {
  python = await pythonEnvironment();
});

const FOREVER = 100_000_000;

function start(program: string, timeoutMs = FOREVER) {
  const told = { log: '' };
  const { stop, ended } = startTestProcess({
    python,
    args: ['-c', program],
    order: undefined,
    env: { PATH: process.env['PATH'], SVC_DATABASE_URL: 'postgres://secret', AIRFLOW_VAR_LIMIT: '7' },
    cwd: tmpdir(),
    user: undefined,
    timeoutMs,
    onLog: (text) => (told.log += text),
  });
  return { told, stop, ended };
}

const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('svc-editor-test-'));

/** A zombie counts as ended, because nothing runs any more. */
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

describe('the process of a test from the editor', () => {
  it('answers on its channel, has no settings of the control plane, and leaves no folder', async () => {
    const { told, ended } = start(`
import os
print("ü", os.environ.get("SVC_DATABASE_URL"), os.environ["AIRFLOW_VAR_LIMIT"], os.path.isdir(os.environ["TMPDIR"]))
os.write(3, b"first\\nlast\\n")
`);
    expect(await ended).toMatchObject({ answer: 'last' });
    expect(told.log).toBe('ü None 7 True\n');
    expect(folders()).toEqual([]);
  });

  it.each([
    ['it takes too long', 'import time; time.sleep(10_000)', 300, 'stopped after 0.3 s'],
    ['it prints too much', 'while True: print("x" * 10_000)', FOREVER, 'printed more than 1 MiB'],
    ['its result is too large', 'import os\nwhile True: os.write(3, b"x" * 65_536)', FOREVER, 'result is too large'],
    ['it ends without a result', 'raise SystemExit(3)', FOREVER, 'exit code 3 and without a result'],
    ['it is killed', 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)', FOREVER, 'signal SIGKILL'],
  ])('has no result and a reason when %s', async (_when, program, timeoutMs, reason) => {
    const { told, ended } = start(program, timeoutMs);
    expect(await ended).toEqual({ answer: '', problem: expect.stringContaining(reason) });
    expect(told.log.length).toBeLessThanOrEqual(MOST_OUTPUT_BYTES);
  });

  it('is stopped with its children, although it ignores the signal and a child holds its streams', async () => {
    const { told, stop, ended } = start(`
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(10_000)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(10_000)
`);
    await eventually(() => told.log.includes('\n'));
    stop();
    expect(await ended).toEqual({ answer: '', problem: 'it was stopped' });
    for (const pid of told.log.trim().split(' ').map(Number)) await eventually(() => !isAlive(pid));
  });
});
