/** `svc replay` of the twenty DAGs that are broken in twenty ways, for a user that may not read secrets. */
import { BROKEN_DAGS } from '@svc/testing/mcp/broken-dags.ts';
import { replayBrokenDags } from '@svc/testing/mcp/replay-broken-dags.ts';
import { expect, it } from 'vitest';

/** The others of the twenty have no try that could end, and the command says why. */
const SAME_END = 18;
const FAST_MS = 3_000;

it('each broken DAG ends by svc replay as on the control plane, with the same exception at the same line, and is planned again to the same end', async () => {
  const { replayed, without } = await replayBrokenDags();
  expect(replayed.map(({ name, here }) => ({ name, ...here }))).toEqual(
    replayed.map(({ name, there }) => ({ name, ...there })),
  );
  expect(replayed).toHaveLength(SAME_END);
  expect(replayed.filter(({ differences }) => differences.length > 0)).toEqual([]);
  // Its branch succeeds, and chooses as it chose.
  expect(replayed.filter(({ there }) => there.error === null)).toMatchObject([
    { name: 'skipped_by_branch', here: { state: 'success', choice: { followed: ['note_empty'] } } },
  ]);
  // These raise in an operator, at no line of the DAG file.
  expect(replayed.flatMap(({ name, there }) => (there.error !== null && there.line === null ? [name] : []))).toEqual([
    'sensor_never',
    'dbt_model',
  ]);

  expect(replayed.length + without.length).toBe(BROKEN_DAGS.length);
  expect(Object.fromEntries(without.map(({ name, stderr }) => [name, stderr]))).toEqual({
    wrong_schedule: expect.stringMatching(/has never run, .*"0 6 31 2 \*".*names no moment to come/),
    deadlocked_pool: expect.stringMatching(
      /prepare has never started: .*pool.*held by hold_and_wait of deadlocked_pool/,
    ),
  });
  const fast = replayed.filter(({ ms }) => ms <= FAST_MS).length;
  console.info([...replayed, ...without].map(({ name, ms }) => `${name} ${Math.round(ms)} ms`).join('\n'));
  console.info(`${fast} of ${BROKEN_DAGS.length} end as on the control plane within ${FAST_MS} ms`);
}, 600_000);
