/**
 * Set-up of the system tier, whose files share processes: the environment that a file has changed is as before for the next
 * one, and a file that leaves more behind fails, instead of the one after it.
 */
import { deepEqual } from 'node:assert/strict';
import { beforeAll } from 'vitest';
import { eventually } from '../eventually.ts';
import { lookAround } from './left-behind.ts';

const around = lookAround();

// Registered first, it runs last: also after what hooks of the file give back to be undone.
beforeAll(() => async () => {
  around.restoreEnvironment();
  await eventually(() => deepEqual(around.problems(), []));
});
