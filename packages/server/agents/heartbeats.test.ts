import { describe, expect, it } from 'vitest';
import { MAX_HEARTBEAT_TOKENS } from '@svc/proto/limits.ts';
import type { AttemptRef, Failure, HeartbeatOf } from '../engine/shared/attempts.ts';
import { createAgentCredentials } from './credentials.ts';
import { answerHeartbeat } from './heartbeats.ts';

const HOUR = 3_600_000;
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function setUp(stopping: string[] = []) {
  const clock = { now: Date.now() };
  const lost: { ref: AttemptRef; failure: Failure }[] = [];
  const beaten: string[][] = [];
  const pids: (number | null | undefined)[] = [];
  const alive: string[] = [];
  const attempts = {
    heartbeat: async (refs: readonly HeartbeatOf[]) => {
      beaten.push(refs.map((ref) => ref.attemptId));
      pids.push(...refs.map((ref) => ref.pid));
      return new Set(stopping);
    },
    lost: async (ref: AttemptRef, failure: Failure) => void lost.push({ ref, failure }),
  };
  const credentials = createAgentCredentials({
    secret: 'x'.repeat(32),
    maxAttemptLifetimeMs: HOUR,
    now: () => clock.now,
  });
  const issue = (attemptId: string, kind: 'task' | 'callback' = 'task') =>
    credentials.issueAttempt({
      kind,
      attemptId,
      tenantId: 't',
      dagId: 'd',
      run: 1,
      taskId: 'x',
      mapIndex: -1,
      tryNumber: 1,
      versionNumber: 1,
    });
  return {
    alive,
    clock,
    lost,
    beaten,
    pids,
    issue,
    beat: (tokens: string[], told: number[] = []) =>
      answerHeartbeat(
        {
          attempts,
          credentials,
          onAlive: (id) => alive.push(id),
          onCurrent: () => {},
          renewTriggerers: async (refs) => new Set(refs.map(({ attemptId }) => attemptId)),
          isCallbackRunning: async ({ attemptId }) => attemptId !== 'over',
          log,
        },
        { tokens, pids: told },
      ),
  };
}

describe('a heartbeat', () => {
  it('answers each credential at its index: kept, stopped, unknown', async () => {
    const { issue, beat, beaten, alive } = setUp(['b']);
    const beats = await beat([await issue('a'), 'nonsense', await issue('b'), await issue('c')]);
    expect(beats.map(({ stop }) => stop)).toEqual([false, true, true, false]);
    expect(beaten).toEqual([['a', 'b', 'c']]);
    expect(alive).toEqual(['a', 'b', 'c']);
  });

  it('records the process id of each attempt that has a process', async () => {
    const { issue, beat, pids } = setUp();
    await beat([await issue('a'), 'nonsense', await issue('b'), await issue('c')], [11, 12, 0]);
    expect(pids).toEqual([11, null, null]);
  });

  it('renews a credential when it has aged, and the new one is good', async () => {
    const { clock, issue, beat } = setUp();
    const token = await issue('a');
    expect(await beat([token])).toEqual([{ stop: false, reason: '', token: '' }]);
    clock.now += 20 * 60_000;
    const [renewed] = await beat([token]);
    expect(renewed?.token).toMatch(/^ey/);
    clock.now += 20 * 60_000;
    expect(await beat([token, renewed?.token ?? ''])).toMatchObject([{ stop: true }, { stop: false }]);
  });

  it('ends an attempt that has outlived the ceiling, for that reason', async () => {
    const { clock, issue, beat, lost } = setUp();
    let token = await issue('a');
    for (let minutes = 0; minutes < 60; minutes += 10) {
      const [answer] = await beat([token]);
      token = answer?.token || token;
      clock.now += 10 * 60_000;
    }
    expect(await beat([token])).toMatchObject([{ stop: true, reason: expect.stringContaining('max_attempt') }]);
    expect(lost).toMatchObject([{ ref: { attemptId: 'a' }, failure: { cause: 'credential_expired' } }]);
  });

  it('of a callback holds no lease of a task', async () => {
    const { issue, beat, beaten } = setUp(['a']);
    expect(await beat([await issue('a', 'callback')])).toMatchObject([{ stop: false }]);
    expect(beaten).toEqual([]);
  });

  it('of a callback that is over renews nothing', async () => {
    const { clock, issue, beat } = setUp();
    const token = await issue('over', 'callback');
    clock.now += 20 * 60_000;
    expect(await beat([token])).toEqual([{ stop: true, reason: 'the callback is over', token: '' }]);
  });

  it('with more credentials than one call may have is refused before any is looked at', async () => {
    const { beat } = setUp();
    const many = Array.from({ length: MAX_HEARTBEAT_TOKENS + 1 }, () => 'nonsense');
    await expect(beat(many)).rejects.toThrow(`at most ${MAX_HEARTBEAT_TOKENS} credentials`);
  });

  it('of as many credentials as it may have, all forged, lets others have their turn', async () => {
    const { issue, beat } = setUp();
    const forged = `${(await issue('a')).slice(0, -4)}AAAA`;
    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const beats = await beat(Array.from({ length: MAX_HEARTBEAT_TOKENS }, () => forged));
    clearImmediate(counting);
    expect(beats.every(({ stop }) => stop)).toBe(true);
    expect(turns).toBeGreaterThanOrEqual(MAX_HEARTBEAT_TOKENS / 20 - 1);
  });
});
