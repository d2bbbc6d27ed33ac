import { expect, test } from 'vitest';
import { failure } from './failures-reporter.ts';

// Hazard: a build fails, and its output does not say which test it was.
test('says of a failure what happened, and where in our own code', () => {
  const error = {
    message: 'expected 1 to be 2',
    stack:
      'Error: expected\n    at run (/x/node_modules/vitest/packages/a.js:1:1)\n    at /x/packages/spec/a.test.ts:3:4',
  };
  expect(failure('unit  packages/spec/a.test.ts > adds', [error])).toBe(
    'unit  packages/spec/a.test.ts > adds\n    expected 1 to be 2\n    at /x/packages/spec/a.test.ts:3:4',
  );
});

test('shortens a message of many lines', () => {
  const message = Array.from({ length: 500 }, (_, line) => `line ${line}`).join('\n');
  expect(failure('a test', [{ message }]).split('\n')).toHaveLength(13);
});
