import { expect, it } from 'vitest';
import { createStoreState } from './store-state.ts';

const quiet = { info: () => undefined, warn: () => undefined };

it('lines acknowledged while the spool is measured are not forgotten, and counted once when it is measured again', async () => {
  const state = createStoreState({ db: undefined as never, log: quiet });
  state.appended(100);
  let answer: (bytes: number) => void = () => undefined;
  const measured = state.measureSpool(() => new Promise((resolve) => (answer = resolve)));
  state.appended(5);
  expect(state.spooled()).toBe(105);
  answer(100); // the database was asked before the five bytes were in it
  expect(await measured).toBe(100);
  expect(state.spooled()).toBe(105);
  await state.measureSpool(async () => 105);
  expect(state.spooled()).toBe(105);
});
