import { expect, test } from 'vitest';
import { checkTasks } from './checks.ts';

test('doctor says as whom tasks would run, and what that means for secrets', async () => {
  const said = async (env: Record<string, string>, isRoot: boolean): Promise<string> =>
    (await checkTasks(env, isRoot)).detail;
  expect(await said({}, false)).toMatch(/^tasks run as the user of this process and can read what it can/);
  expect(await said({}, true)).toContain(
    'runs tasks as a user of its own for each data directory, who cannot read its keys',
  );
  expect(await said({ SVC_EXECUTOR_TASK_USER: 'etl' }, true)).toContain('as the user "etl"');
  expect(await said({ SVC_EXECUTOR_TASK_USER: 'root' }, true)).toMatch(/^tasks run as the user of this process/);
});
