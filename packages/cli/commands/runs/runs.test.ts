/** `svc runs` against a control plane that really runs the tasks. */
import { writeFileSync } from 'node:fs';
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { openDoor } from '@svc/testing/cli/flaky-door.ts';
import { startLiveServer, twoSteps } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

type ShownRun = DagRun & { task_instances: TaskInstance[] };

let live: LiveServer;
beforeAll(async () => {
  live = await startLiveServer();
  await live.addDag('etl', twoSteps('etl'));
  await live.addDag('sleeping', twoSteps('sleeping'), { isPaused: true });
});
afterAll(() => live.close());

const shown = (runId: string): Promise<ShownRun> => live.jsonOf<ShownRun>('runs', 'show', 'etl', runId);
/** A run whose second task runs until the gate is there. */
async function runBehindGate(runId: string): Promise<{ gate: string; open: () => void }> {
  const gate = live.gate(runId);
  await live.jsonOf('runs', 'trigger', 'etl', '--run-id', runId, '--param', `gate=${gate}`);
  await live.until(
    () => shown(runId),
    (run) => run.task_instances.some(({ task_id: id, state }) => id === 'load' && state === 'running'),
  );
  return { gate, open: () => writeFileSync(gate, '') };
}

describe('svc runs trigger', () => {
  it('hands id, note, date, conf and params on to the run', async () => {
    const named = ['--run-id', 'all-of-it', '--note', 'by hand', '--logical-date', '2026-01-31'];
    const conf = ['--conf', '{"fail": true, "gate": "x"}', '--param', 'fail=false', '--param', 'gate=""'];
    const run = await live.jsonOf<DagRun>('runs', 'trigger', 'etl', ...named, ...conf);
    expect(run).toMatchObject({
      dag_run_id: 'all-of-it',
      note: 'by hand',
      conf: { fail: false, gate: '' },
      run_type: 'manual',
    });
    expect(Date.parse(run.logical_date ?? '')).toBe(Date.parse('2026-01-31T00:00:00Z'));
    const again = await live.svc('runs', 'trigger', 'etl', '--run-id', 'all-of-it');
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('choose another') });
  });

  it('with --wait ends with 0 or 1 as the run does, and says which task failed and where to read why', async () => {
    const good = await live.svc('runs', 'trigger', 'etl', '--run-id', 'good', '--wait');
    expect(good).toMatchObject({ code: 0, stderr: 'Triggered good of DAG etl.\n' });
    expect(good.stdout).toMatch(
      /extract: success +\d.*\n(.*\n)*load: success .*\nRun good of DAG etl succeeded after /,
    );

    const bad = await live.svc('runs', 'trigger', 'etl', '--run-id', 'bad', '--wait', '--param', 'fail=true');
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/load: failed .*the warehouse is closed\n$/);
    expect(bad.stderr).toMatch(/svc: run bad of DAG etl failed after .*: load \(.*the warehouse is closed\)\n/);
    expect(bad.stderr).toContain('svc runs logs etl bad');
  });

  it('with --wait --json prints one document, also of a run that failed', async () => {
    const { code, stdout } = await live.svc('runs', 'trigger', 'etl', '--wait', '--json', '--param', 'fail=true');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'failed',
      task_instances: [
        { task_id: 'extract', state: 'success' },
        { task_id: 'load', state: 'failed' },
      ],
    });
  });

  it('does not wait for ever on a paused DAG, and says when a run will not start', async () => {
    const refused = await live.svc('runs', 'trigger', 'sleeping', '--wait');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--unpause') });
    expect(await live.jsonOf('runs', 'list', 'sleeping')).toEqual([]);

    const queued = await live.svc('runs', 'trigger', 'sleeping', '--run-id', 'first');
    expect(queued).toMatchObject({ code: 0, stderr: expect.stringContaining('svc dags unpause sleeping') });
    const { stdout } = await live.svc('runs', 'show', 'sleeping', 'first');
    expect(stdout).toMatch(/State +queued\nWaits because +the DAG is paused: unpause it to go on\n/);
    expect((await live.svc('runs', 'trigger', 'sleeping', '--unpause', '--wait')).code).toBe(0);
  });

  it('says what is wrong with a conf, a date, a DAG', async () => {
    const code = async (...argv: string[]) => (await live.svc('runs', 'trigger', ...argv)).code;
    const wrong = await live.svc('runs', 'trigger', 'etl', '--param', 'fail=perhaps');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('conf.fail') });
    expect(await code('etl', '--conf', '[]')).toBe(2);
    expect(await code('etl', '--logical-date', 'monday')).toBe(2);
    expect(await code('etl', '--run-id', 'scheduled__x')).toBe(2);
    expect(await code('nowhere')).toBe(4);
    expect(await code('../connections')).toBe(4);
  });

  it('is refused without the permission, which it names', async () => {
    await live.server.addUser({ email: 'reader@example.com', roles: ['viewer'] });
    const env = { ...live.env, SVC_TOKEN: await live.server.login('reader@example.com') };
    const outcome = await runSvc(['runs', 'trigger', 'etl'], { env });
    expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('write:dag_run') });
  });
});

describe('svc runs list', () => {
  it('selects by DAG, state and date, newest first, and says when there are more', async () => {
    const ids = async (...filters: string[]) =>
      (await live.jsonOf<DagRun[]>('runs', 'list', ...filters)).map((run) => run.dag_run_id);
    expect(await ids('etl', '--state', 'failed', '--limit', '500')).toContain('bad');
    expect(await ids('etl', '--state', 'failed', '--limit', '500')).not.toContain('good');
    // The first of them was not waited for.
    await live.until(
      () => ids('etl', '--state', 'queued', '--state', 'running'),
      (found) => found.length === 0,
    );
    expect(await ids('etl', '--from', '2026-01-31', '--to', '2026-01-31')).toEqual(['all-of-it']);
    expect(await ids('etl', '--type', 'scheduled')).toEqual([]);
    expect(new Set((await live.jsonOf<DagRun[]>('runs', 'list')).map((run) => run.dag_id))).toEqual(
      new Set(['etl', 'sleeping']),
    );
    const one = await live.svc('runs', 'list', 'etl', '--limit', '1');
    expect(one.stdout).toMatch(/^RUN +STATE +TYPE +LOGICAL DATE +STARTED +DURATION\n.*\n$/);
    expect(one.stderr).toMatch(/^1 of \d+ are shown/);
    expect((await live.svc('runs', 'list', 'etl', '--state', 'broken')).code).toBe(2);
    expect((await live.svc('runs', 'list', 'nowhere')).code).toBe(4);
  });
});

describe('svc runs show', () => {
  it('why: names the cause, the line of the author, what to try and the last lines of a failed run', async () => {
    const why = await live.svc('runs', 'why', 'etl', 'bad', '--lines', '5');
    expect(why).toMatchObject({ code: 0, stderr: '' });
    expect(why.stdout).toMatch(
      /^Run bad of etl: failed\n\nload failed at try 1: exception: .*closed \(\w+\.py:\d+\)\n/,
    );
    expect(why.stdout).toMatch(/\n {2}try: Fix the code .*\n {2}log:\n {2}\| /);
    expect(await live.jsonOf('runs', 'why', 'etl', 'bad')).toMatchObject({
      failures: [{ cause: { code: 'exception' } }],
    });
  });

  it('tells why a task failed, and what another one waits for', async () => {
    const bad = await live.svc('runs', 'show', 'etl', 'bad');
    expect(bad.stdout).toMatch(/^DAG +etl\nRun +bad\nState +failed\n/);
    expect(bad.stdout).toMatch(/load +failed +1 +\d.* s +.*the warehouse is closed\n/);
    const close = await live.svc('runs', 'show', 'etl', 'bad', '--task', 'load');
    expect(close.stdout).toMatch(/Failed because .*the warehouse is closed\n\nTRY +STATE[^\n]*\n +1 +failed/);
    const unknown = await live.svc('runs', 'show', 'etl', 'bad', '--task', 'lod');
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('it has extract, load') });
    expect(
      (await live.jsonOf<ShownRun>('runs', 'show', 'etl', 'bad', '--state', 'failed')).task_instances,
    ).toMatchObject([{ task_id: 'load' }]);
    expect((await live.svc('runs', 'show', 'etl', 'nothing')).code).toBe(4);
  });
});

describe('svc runs watch', () => {
  it('goes on when the control plane was away for a while', async () => {
    const door = await openDoor(live.server.url);
    const { open } = await runBehindGate('through-the-door');
    const watching = spawnSvc(['runs', 'watch', 'etl', 'through-the-door'], { ...live.env, SVC_SERVER_URL: door.url });
    await watching.until('load: running');
    door.shut();
    await watching.until('does not answer: trying again');
    open();
    door.open();
    expect(await watching.ended).toBe(0);
    expect(watching.output()).toContain('Run through-the-door of DAG etl succeeded');
    await door.close();
  });

  it('ends with Ctrl-C, and leaves the run alone', async () => {
    const { open } = await runBehindGate('left-alone');
    const watching = spawnSvc(['runs', 'watch', 'etl', 'left-alone'], live.env);
    await watching.until('load: running');
    watching.kill('SIGINT');
    expect(await watching.ended).toBe(130);
    expect(watching.output()).toContain('svc runs cancel etl left-alone');
    expect((await shown('left-alone')).state).toBe('running');
    open();
    expect((await live.svc('runs', 'watch', 'etl', 'left-alone')).code).toBe(0);
  });

  it('says why a run does not start, when others have to end first', async () => {
    await live.addDag('narrow', twoSteps('narrow').replace('schedule=None', 'schedule=None, max_active_runs=1'));
    const gate = live.gate('narrow');
    await live.jsonOf('runs', 'trigger', 'narrow', '--run-id', 'first', '--param', `gate=${gate}`);
    await live.jsonOf('runs', 'trigger', 'narrow', '--run-id', 'second');
    const watching = spawnSvc(['runs', 'watch', 'narrow', 'second'], live.env);
    await watching.until('max_active_runs allows (1 of 1)');
    writeFileSync(gate, '');
    expect(await watching.ended).toBe(0);
  });

  it('takes the newest run, and says when there is none', async () => {
    await live.addDag('fresh', twoSteps('fresh'));
    const none = await live.svc('runs', 'watch', 'fresh');
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('svc runs trigger fresh') });
  });
});

describe('svc runs clear', () => {
  it('changes nothing without a yes, and then runs what failed once more', async () => {
    const dry = await live.svc('runs', 'clear', 'etl', 'bad', '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^TASK[^\n]*\nload +failed .*\n1 task instance would/),
    });
    const asked = await live.svc('runs', 'clear', 'etl', 'bad');
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect((await shown('bad')).state).toBe('failed');

    const done = await live.svc('runs', 'clear', 'etl', 'bad', '--yes', '--wait');
    expect(done).toMatchObject({ code: 1, stdout: expect.stringContaining('Cleared 1 task instance.') });
    const tries = (await shown('bad')).task_instances.map(({ task_id: id, try_number: number }) => [id, number]);
    expect(tries).toEqual([
      ['extract', 1],
      ['load', 2],
    ]);
  });

  it('takes tasks that are well only with --all, and their successors only when asked', async () => {
    const tasks = async (...options: string[]) => {
      const argv = ['runs', 'clear', 'etl', 'good', '--dry-run', ...options];
      const { task_instances: found } = await live.jsonOf<ShownRun>(...argv);
      return found.map((instance) => instance.task_id);
    };
    expect(await tasks('--task', 'extract')).toEqual([]);
    expect(await tasks('--task', 'extract', '--all')).toEqual(['extract']);
    expect(await tasks('--task', 'extract', '--all', '--downstream')).toEqual(['extract', 'load']);
    const nothing = await live.svc('runs', 'clear', 'etl', 'good', '--yes');
    expect(nothing).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('--all') });
    const unknown = await live.svc('runs', 'clear', 'etl', 'good', '--task', 'lod', '--yes');
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('has no task lod') });
  });
});

describe('svc runs cancel', () => {
  it('ends what runs, and never turns a success into a failure', async () => {
    await runBehindGate('cancelled');
    expect((await live.svc('runs', 'cancel', 'etl', 'cancelled')).stdout).toBe('Cancelled cancelled of DAG etl.\n');
    const run = await shown('cancelled');
    expect(run.state).toBe('failed');
    expect(run.task_instances.map(({ state }) => state)).not.toContain('running');

    const over = await live.svc('runs', 'cancel', 'etl', 'good');
    expect(over).toMatchObject({ code: 0, stdout: '', stderr: 'good is over already (success).\n' });
    expect((await shown('good')).state).toBe('success');
    expect((await live.svc('runs', 'cancel', 'etl', 'nothing')).code).toBe(4);
  });
});
