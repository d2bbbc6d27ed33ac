/** `svc runs logs` of tasks that really run. */
import { writeFileSync } from 'node:fs';
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { openDoor } from '@svc/testing/cli/flaky-door.ts';
import { finished, instanceOf } from '@svc/testing/cli/instances.ts';
import { startLiveServer, twoSteps } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forTerminal } from '../../runs/read-log.ts';
import { mostTelling } from './logs.ts';

let live: LiveServer;
beforeAll(async () => {
  live = await startLiveServer();
  await live.addDag('etl', twoSteps('etl', 1));
  await live.svc('runs', 'trigger', 'etl', '--run-id', 'bad', '--param', 'fail=true', '--wait');
  await live.svc('runs', 'trigger', 'etl', '--run-id', 'good', '--wait');
});
afterAll(() => live.close());

const taskOf = async (runId: string, taskId: string): Promise<TaskInstance | undefined> => {
  const run = await live.jsonOf<DagRun & { task_instances: TaskInstance[] }>('runs', 'show', 'etl', runId);
  return run.task_instances.find((instance) => instance.task_id === taskId);
};

describe('svc runs logs', () => {
  it('without more words prints why the run failed, and says on standard error whose log it is', async () => {
    const { code, stdout, stderr } = await live.svc('runs', 'logs', 'etl', 'bad');
    expect(code).toBe(0);
    expect(stdout).toMatch(/loading 3 rows\n[\s\S]*ValueError: the warehouse is closed\n[\s\S]*Frames of svc/);
    expect(stderr).toBe('load, try 2 of run bad: failed\n');
  });

  it('prints another task, an earlier try, the last lines, or lines with a text', async () => {
    const log = async (...options: string[]) => (await live.svc('runs', 'logs', 'etl', 'bad', ...options)).stdout;
    expect(await log('--task', 'extract')).toMatch(/extracting\n/);
    expect(await log('--task', 'load', '--try', '1')).toContain('the warehouse is closed');
    expect(await log('--tail', '1')).toMatch(/::endgroup::\n$/);
    expect(await log('--search', 'LOADING')).toMatch(/^1:.*loading 3 rows\n$/);
    const records = (await log('--task', 'extract', '--json')).trim().split('\n');
    expect(records.map((line) => (JSON.parse(line) as { event: string }).event)).toContain('extracting');
  });

  it('says what to name when nothing failed, and what is wrong with a name', async () => {
    const unnamed = await live.svc('runs', 'logs', 'etl', 'good');
    expect(unnamed).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('--task extract, --task load'),
    });
    const unknown = await live.svc('runs', 'logs', 'etl', 'good', '--task', 'lod');
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('it has extract, load') });
    expect((await live.svc('runs', 'logs', 'etl', 'good', '--task', 'load', '--try', '9')).code).toBe(4);
    expect((await live.svc('runs', 'logs', 'etl', 'good', '--search', 'x', '--follow')).code).toBe(2);
  });

  it('follows a task to its end, each line once, also when the control plane was away meanwhile', async () => {
    const door = await openDoor(live.server.url);
    const gate = live.gate('followed');
    await live.jsonOf('runs', 'trigger', 'etl', '--run-id', 'followed', '--param', `gate=${gate}`);
    const argv = ['runs', 'logs', 'etl', 'followed', '--task', 'load', '--follow'];
    const following = spawnSvc(argv, { ...live.env, SVC_SERVER_URL: door.url });
    await following.until('loading 3 rows');
    door.shut();
    await following.until('trying again');
    writeFileSync(gate, '');
    await live.until(
      () => taskOf('followed', 'load'),
      (load) => load?.state === 'success',
    );
    door.open();
    expect(await following.ended).toBe(0);
    expect(following.output().match(/loading 3 rows/g)).toHaveLength(1);
    expect(following.output().match(/INFO - loaded/g)).toHaveLength(1);
    await door.close();
  });

  it('does not wait for a task that will never run, and says why it has no log', async () => {
    const failing = twoSteps('stuck').replace('print("extracting")', 'raise ValueError("no source")');
    await live.addDag('stuck', failing);
    await live.svc('runs', 'trigger', 'stuck', '--wait');
    const outcome = await live.svc('runs', 'logs', 'stuck', '--task', 'load', '--follow');
    expect(outcome).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('upstream_failed') });
  });
});

describe('the log that is shown when none is named', () => {
  it('is that of the last failure, else of what runs, else of what is tried again', () => {
    const [early, late] = [finished('a', 0, 9, { state: 'failed' }), finished('b', 1, 2, { state: 'failed' })];
    const running = instanceOf('c', { state: 'running', started: 20 });
    const retrying = instanceOf('d', { state: 'up_for_retry', started: 30 });
    const skipped = instanceOf('e', { state: 'upstream_failed' });
    expect(mostTelling([late, running, early])).toBe(early);
    expect(mostTelling([running, retrying, skipped])).toBe(running);
    expect(mostTelling([retrying, skipped, finished('f', 0, 1)])).toBe(retrying);
    expect(mostTelling([skipped, finished('f', 0, 1)])).toBeUndefined();
  });
});

describe('what a task has logged', () => {
  it('cannot drive the terminal it is shown on', () => {
    expect(forTerminal('\u001b[31mred\u001b[0m\ttab\r\nnext \u001b]0;title\u0007\u0008\n')).toBe(
      'red\ttab\nnext \\u0008\n',
    );
  });
});
