import { describe, expect, it } from 'vitest';
import { createAdmission } from './admission.ts';
import type { Place } from './admission.ts';

/** Requests are names; the test ends them, and moves the clock. */
function setUp(limits = { atOnce: 4, waiting: 8 }) {
  const clock = { now: 0 };
  const state = { isBusy: false, isSaturated: false };
  const due: { at: number; run: () => void }[] = [];
  const started: string[] = [];
  const refused: [string, string][] = [];
  const places = new Map<string, Place>();
  const admission = createAdmission(limits, {
    isBusy: () => state.isBusy,
    isSaturated: () => state.isSaturated,
    now: () => clock.now,
    later: (run, ms) => void due.push({ at: clock.now + ms, run }),
  });
  /** Everything that is due by then, in order. */
  function pass(ms = 0): void {
    const until = clock.now + ms;
    for (;;) {
      const next = due.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (!next) break;
      due.splice(due.indexOf(next), 1);
      clock.now = Math.max(clock.now, next.at);
      next.run();
    }
    clock.now = until;
  }
  return {
    state,
    started,
    refused,
    admission,
    pass,
    ask(user: string, name: string, tenant = 'one') {
      const lane = { tenant, user };
      const start = (): void => void started.push(name);
      const refuse = (reason: string): void => void refused.push([name, reason]);
      places.set(name, admission.enter({ lane, start, refuse }));
    },
    end(name: string) {
      places.get(name)?.leave();
      pass();
    },
  };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('requests that come faster than they are answered', () => {
  it('are served up to the limit, of which one user has three quarters at most', () => {
    const { ask, pass, started } = setUp();
    for (const n of range(5)) ask('a', `a${n}`);
    pass();
    expect(started).toEqual(['a0', 'a1', 'a2']);
    for (const n of range(2)) ask('b', `b${n}`);
    pass();
    expect(started).toEqual(['a0', 'a1', 'a2', 'b0']);
  });

  it('are served in turns between users, however many one of them has waiting', () => {
    const { ask, end, pass, started } = setUp({ atOnce: 1, waiting: 100 });
    for (const n of range(10)) ask('a', `a${n}`);
    for (const n of range(2)) ask('b', `b${n}`);
    ask('c', 'c0');
    pass();
    for (const n of range(6)) end(started[n] ?? '');
    expect(started.slice(0, 7)).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'b1', 'a3']);
  });

  it('are refused to a user who has too many waiting, and to nobody else', () => {
    const { ask, refused, end, started } = setUp({ atOnce: 1, waiting: 8 });
    for (const n of range(5)) ask('a', `a${n}`);
    expect(refused).toEqual([
      ['a3', 'user'],
      ['a4', 'user'],
    ]);
    ask('b', 'b0');
    end('a0');
    end('a1');
    expect(started).toContain('b0');
  });

  it('are refused to everybody when all together have too many, but who asks for little gets room from who asks for much', () => {
    const { ask, refused, admission } = setUp({ atOnce: 1, waiting: 8 });
    for (const lane of ['a', 'b', 'c', 'd']) for (const n of range(3)) ask(lane, `${lane}${n}`);
    expect(admission.usage()).toEqual({ serving: 1, waiting: 8 });
    refused.length = 0;
    ask('e', 'e0');
    expect(refused).toEqual([[expect.stringMatching(/^[abcd]/), 'user']]);
    for (const lane of ['f', 'g', 'h']) ask(lane, `${lane}0`);
    refused.length = 0;
    ask('i', 'i0');
    expect(refused).toEqual([['i0', 'process']]);
  });

  it('that wait too long are refused, also when nothing else ever ends', () => {
    const { ask, pass, refused } = setUp({ atOnce: 1, waiting: 8 });
    ask('a', 'slow');
    ask('b', 'b0');
    pass(10_000);
    expect(refused).toEqual([]);
    pass(10_000);
    expect(refused).toEqual([['b0', 'process']]);
  });

  it('whose client has gone make room, whether they were served or waited', () => {
    const { ask, end, started, admission } = setUp({ atOnce: 1, waiting: 8 });
    for (const name of ['x', 'y', 'z']) ask('a', name);
    end('y');
    end('x');
    end('x'); // twice counts once
    expect(started).toEqual(['x', 'z']);
    expect(admission.usage()).toEqual({ serving: 1, waiting: 0 });
  });

  it('wait while something urgent is done, but not for ever', () => {
    const { ask, end, pass, started, state } = setUp({ atOnce: 1, waiting: 8 });
    for (const name of ['x', 'y']) ask('a', name);
    state.isBusy = true;
    end('x');
    expect(started).toEqual(['x']);
    pass(10);
    expect(started).toEqual(['x']);
    pass(30);
    expect(started).toEqual(['x', 'y']);
  });

  it('are served fewer at once while the process has no time to spare', () => {
    const { ask, end, pass, started, state } = setUp({ atOnce: 4, waiting: 100 });
    state.isSaturated = true;
    for (const lane of ['a', 'b', 'c']) for (const n of range(3)) ask(lane, `${lane}${n}`);
    pass();
    expect(started).toHaveLength(4); // there was room, and nobody waited
    for (const name of started.slice()) end(name);
    expect(started).toHaveLength(6);
  });
});

describe('requests of two tenants', () => {
  it('are served in turns between the tenants, however many users one of them has', () => {
    const { ask, end, pass, started } = setUp({ atOnce: 1, waiting: 100 });
    for (const n of range(20)) ask(`user${n}`, `a${n}`, 'a');
    for (const n of range(3)) ask('user', `b${n}`, 'b');
    pass();
    for (const n of range(6)) end(started[n] ?? '');
    expect(started.slice(0, 7)).toEqual(['a0', 'a1', 'b0', 'a2', 'b1', 'a3', 'b2']);
  });

  it('leave room for the tenant that asks for little, however many users the other one has', () => {
    const { ask, refused } = setUp({ atOnce: 1, waiting: 8 });
    for (const n of range(20)) ask(`user${n}`, `a${n}`, 'a');
    expect(refused.length).toBe(11);
    refused.length = 0;
    for (const n of range(3)) ask('user', `b${n}`, 'b');
    expect(refused).toEqual([
      ['a8', 'tenant'],
      ['a7', 'tenant'],
      ['b2', 'user'],
    ]);
  });

  it('are served at once when their tenant has hardly any, although another one has a crowd waiting', () => {
    const { ask, end, pass, started } = setUp({ atOnce: 8, waiting: 100 });
    ask('user', 'b0', 'b');
    end('b0');
    for (const n of range(50)) ask(`user${n}`, `a${n}`, 'a');
    pass();
    expect(started).toEqual(['b0', 'a0', 'a1', 'a2', 'a3', 'a4', 'a5']);
    started.length = 0;
    for (const n of range(3)) ask('user', `b${n + 1}`, 'b');
    expect(started).toEqual(['b1', 'b2']);
  });

  it('of which one has a crowd: it has one place while the process is saturated, and more again step by step', () => {
    const { ask, end, pass, started, state, admission } = setUp({ atOnce: 8, waiting: 100 });
    ask('user', 'b0', 'b');
    end('b0');
    state.isSaturated = true;
    for (const n of range(50)) ask(`user${n}`, `a${n}`, 'a');
    pass();
    expect(started).toEqual(['b0', 'a0']);
    ask('user', 'b1', 'b');
    ask('user', 'b2', 'b');
    expect(started).toEqual(['b0', 'a0', 'b1']); // another one of them waits, since the share holds for both
    end('b1');
    state.isSaturated = false;
    pass(1_100);
    for (const name of ['b2', 'a0']) end(name);
    expect(admission.usage().serving).toBe(3);
    pass(10_000);
    end('a1');
    expect(admission.usage().serving).toBe(8);
  });

  it('of a crowd wait while one of another tenant is served in a saturated process, but not for ever', () => {
    const { ask, end, pass, started, state } = setUp({ atOnce: 8, waiting: 100 });
    ask('user', 'b0', 'b');
    end('b0');
    state.isSaturated = true;
    for (const n of range(50)) ask(`user${n}`, `a${n}`, 'a');
    ask('user', 'b1', 'b');
    pass();
    expect(started).toEqual(['b0', 'a0', 'b1']);
    end('a0');
    pass(10);
    expect(started).toEqual(['b0', 'a0', 'b1']);
    pass(20);
    expect(started).toEqual(['b0', 'a0', 'b1', 'a1']);
  });

  it('without a known tenant take no place of the others', () => {
    const { ask, pass, started } = setUp({ atOnce: 4, waiting: 100 });
    ask('user', 'b0', 'b');
    for (const n of range(50)) ask(`address${n}`, `x${n}`, '');
    pass();
    expect(started).toEqual(['b0', 'x0', 'x1', 'x2']);
    const alone = setUp({ atOnce: 4, waiting: 100 });
    alone.ask('address', 'x0', '');
    for (const n of range(5)) alone.ask(`user${n}`, `b${n}`, 'b');
    alone.pass();
    expect(alone.started).toEqual(['x0', 'b0', 'b1', 'b2']);
  });
});
