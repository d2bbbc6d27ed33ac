import { describe, expect, it } from 'vitest';
import {
  RUN_STATES,
  TASK_STATES,
  isFailure,
  isFinished,
  isOccupying,
  isRunFinished,
  isSuccessLike,
  isWaiting,
} from './states.ts';
import {
  MARKABLE_STATES,
  RUN_TRANSITIONS,
  TASK_TRANSITIONS,
  mayMark,
  mayRunTransition,
  mayTransition,
} from './states/transitions.ts';

describe('task states', () => {
  it('no scheduler or worker changes a finished task: only people do', () => {
    for (const state of TASK_STATES.filter((state) => isFinished(state))) {
      expect(TASK_TRANSITIONS[state]).toEqual([]);
      for (const to of TASK_STATES) expect(mayTransition(state, to)).toBe(false);
    }
  });

  it('every unfinished state leads on, and each state but removed leads to an end', () => {
    for (const [from, targets] of Object.entries(TASK_TRANSITIONS)) {
      const finished = from !== 'none' && isFinished(from as (typeof TASK_STATES)[number]);
      expect(targets.length === 0).toBe(finished);
    }
    const reaches = (state: string, seen = new Set<string>()): boolean => {
      if (seen.has(state)) return false;
      seen.add(state);
      const targets = TASK_TRANSITIONS[state as keyof typeof TASK_TRANSITIONS];
      return targets.length === 0 || targets.some((next) => reaches(next, seen));
    };
    for (const state of Object.keys(TASK_TRANSITIONS)) expect(reaches(state)).toBe(true);
  });

  it('a worker can start only what was handed to it', () => {
    const startable = Object.entries(TASK_TRANSITIONS).filter(([, targets]) => targets.includes('running'));
    // Without a status: scheduled and handed over in the transaction that ended what it waited for, stored once.
    expect(startable.map(([from]) => from).sort()).toEqual(['none', 'queued', 'restarting', 'scheduled']);
    expect(mayTransition('up_for_retry', 'running')).toBe(false);
    expect(mayTransition('scheduled', 'queued')).toBe(true);
  });

  it('every state is exactly one of finished, occupying a slot, waiting or scheduled', () => {
    for (const state of [null, ...TASK_STATES]) {
      const kinds = [isFinished(state), isOccupying(state), isWaiting(state), state === 'scheduled'];
      expect(kinds.filter(Boolean)).toHaveLength(1);
      expect(isFailure(state) && isSuccessLike(state)).toBe(false);
    }
  });

  it('people may mark and clear, nothing else', () => {
    for (const state of TASK_STATES) expect(mayMark(state)).toBe(MARKABLE_STATES.includes(state));
    expect(mayMark(null)).toBe(true);
    expect(mayMark('running')).toBe(false);
  });
});

describe('run states', () => {
  it('a run never changes into itself and can always end', () => {
    for (const state of RUN_STATES) {
      expect(mayRunTransition(state, state)).toBe(false);
      expect(isRunFinished(state) || RUN_TRANSITIONS[state].some((next) => isRunFinished(next))).toBe(true);
    }
  });
});
