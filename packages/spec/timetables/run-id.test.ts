import { expect, it } from 'vitest';
import { isRunId } from '../ids.ts';
import { instantFromIso } from './instant.ts';
import { runIdFor } from './run-id.ts';

const at = (text: string) => {
  const found = instantFromIso(text);
  if (found === null) throw new Error(text);
  return found;
};
const runAfter = at('2026-01-02T10:00:00Z');

it('a run whose caller chose no id has the id that Airflow gives it', () => {
  expect(runIdFor({ runType: 'manual', runAfter })).toBe('manual__2026-01-02T10:00:00+00:00');
});

it('two runs of the same partition and moment have different ids, and any key gives an id that is allowed', () => {
  const ids = ['a/b c', 'ä', 'x'.repeat(300), 'a/b c'].map((partitionKey) =>
    runIdFor({ runType: 'asset_triggered', runAfter, partitionKey }),
  );
  expect(ids[0]).toMatch(/^asset_triggered__2026-01-02T10:00:00\+00:00__a_b_c__[0-9a-f]{8}$/);
  expect(ids[2]).toMatch(/__x{150}__[0-9a-f]{8}$/);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(isRunId(id)).toBe(true);
});
