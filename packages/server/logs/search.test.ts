import { describe, expect, it } from 'vitest';
import type { LogKey } from './log-key.ts';
import { searchLog } from './search.ts';

const logKey: LogKey = { tenantId: 't', dagId: 'd', runId: 'r', taskId: 'k', mapIndex: -1, tryNumber: 1 };
const storeOf = (records: readonly object[]) => {
  const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return {
    size: bytes.length,
    async *read(_logKey: LogKey, { from = 0, to = bytes.length } = {}) {
      yield bytes.subarray(from, to);
    },
  };
};
const search = (records: readonly object[], text: string, maxMatches = 100) => {
  const store = storeOf(records);
  return searchLog(store, logKey, { text, maxMatches, to: store.size });
};
const RECORDS = [
  { level: 'info', event: 'Begin' },
  { level: 'error', event: 'Failed\nTraceback\n  at LOAD\n  at main' },
  { level: 'info', event: 'load again' },
];

describe('a search in a log', () => {
  it('finds text in any letter case, by the line numbers of the readable form', async () => {
    const { matches, isComplete } = await search(RECORDS, 'Load');
    expect(matches.map(({ lineNumber, line, message }) => [lineNumber, line, message])).toEqual([
      [4, '  at LOAD', '  at LOAD'],
      [6, 'INFO - load again', 'load again'],
    ]);
    expect(isComplete).toBe(true);
  });

  it('finds what only the readable form has: the level', async () => {
    const { matches } = await search(RECORDS, 'error');
    expect(matches).toMatchObject([{ lineNumber: 2, message: 'Failed', record: { level: 'error' } }]);
  });

  it('stops at as many as were asked for, and says whether there are more', async () => {
    expect(await search(RECORDS, 'load', 1)).toMatchObject({ matches: [{ lineNumber: 4 }], isComplete: false });
    expect(await search(RECORDS, 'load', 2)).toMatchObject({ isComplete: true });
    expect(await search(RECORDS, 'nowhere')).toEqual({ matches: [], isComplete: true });
  });

  it('takes the text as text, not as a pattern', async () => {
    const { matches } = await search([{ event: 'a.*b' }, { event: 'axxb' }], '.*');
    expect(matches).toHaveLength(1);
  });

  it('shows a very long line in part', async () => {
    const { matches } = await search([{ event: `needle ${'x'.repeat(500_000)}` }], 'needle');
    expect(matches[0]?.line.length).toBeLessThan(10_100);
  });
});
