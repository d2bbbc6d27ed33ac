import { expect, it } from 'vitest';
import { createPace } from './pace.ts';

it('a single change is followed at once even after a long pass, and a storm of changes takes a tenth of the time', () => {
  let time = 0;
  const pace = createPace({ everyMs: 1_000, now: () => time });
  const pass = (worked: number): number => {
    time += worked;
    const pause = pace.pauseAfter(worked);
    time += pause;
    return pause;
  };
  expect(pass(5_000)).toBe(1_000);
  expect(pass(0)).toBe(1_000);
  time = 0;
  const storm = createPace({ everyMs: 1_000, now: () => time });
  let worked = 0;
  while (time < 3_600_000) {
    time += 5_000;
    worked += 5_000;
    time += storm.pauseAfter(5_000);
  }
  expect(worked / time).toBeLessThan(0.12);
});
