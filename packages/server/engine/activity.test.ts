import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createActivity } from './activity.ts';

it('an activity without work is idle at once', async () => {
  await createActivity().idle();
});

it('an activity is not idle while tracked work is under way, also when that work fails', async () => {
  const activity = createActivity();
  const [works, fails] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  void activity.track(works.promise);
  activity.track(fails.promise).catch(() => {});
  let isIdle = false;
  const idle = activity.idle().then(() => (isIdle = true));
  works.resolve();
  await sleep(0);
  expect(isIdle).toBe(false);
  fails.reject(new Error('no'));
  await idle;
});

it('work that follows from work that has just ended is waited for as well', async () => {
  const activity = createActivity();
  const order: string[] = [];
  async function first(): Promise<void> {
    await sleep(1);
    order.push('first');
  }
  void activity.track(first()).then(() =>
    activity.after(1, () =>
      activity.nextTurn(() => {
        void activity.track(sleep(1).then(() => order.push('last')));
      }),
    ),
  );
  await activity.idle();
  expect(order).toEqual(['first', 'last']);
});
