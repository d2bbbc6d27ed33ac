/** Lists of runs page by page, while runs come and go. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertRun } from '@svc/testing/engine/run-rows.ts';
import { day, nameOf, startListedRuns } from '@svc/testing/server/listed-runs.ts';
import type { ListedRuns, RunList } from '@svc/testing/server/listed-runs.ts';

let runs: ListedRuns;
beforeAll(async () => {
  runs = await startListedRuns();
});
afterAll(() => runs?.server.close());

describe('pages of runs by cursor', () => {
  async function walk(query: string, onPage: (page: number) => Promise<void> = async () => {}) {
    const names: string[] = [];
    const pages: RunList[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: RunList = await runs.list(`cursor=${encodeURIComponent(cursor)}&limit=2&${query}`);
      expect(page.total_entries).toBeNull();
      pages.push(page);
      names.push(...page.dag_runs.map(nameOf));
      await onPage(pages.length);
      cursor = page.next_cursor;
      if (pages.length > 20) throw new Error('it goes round in a circle');
    }
    return { names, pages };
  }

  const KEYS = [
    'id',
    'state',
    'dag_id',
    'run_id',
    'run_after',
    'logical_date',
    'start_date',
    'end_date',
    'updated_at',
    'conf',
    'duration',
  ];
  const ORDERS = [
    ...KEYS,
    ...KEYS.map((key) => `-${key}`),
    'dag_id&order_by=-logical_date',
    '-end_date&order_by=state',
  ];

  it.each(ORDERS)('lead through everything once, there and back, sorted by %s', async (key) => {
    const whole = (await runs.list(`order_by=${key}`)).dag_runs.map(nameOf);
    expect(whole).toHaveLength(6);
    const { names, pages } = await walk(`order_by=${key}`);
    expect(names).toEqual(whole);
    expect(pages.map((page) => page.dag_runs.length)).toEqual([2, 2, 2]);
    expect(pages[0]?.previous_cursor).toBeNull();
    const back: string[] = [];
    let page = pages.at(-1);
    while (page && page.previous_cursor !== null) {
      page = await runs.list(`cursor=${encodeURIComponent(page.previous_cursor)}&limit=2&order_by=${key}`);
      back.unshift(...page.dag_runs.map(nameOf));
    }
    expect(back).toEqual(whole.slice(0, 4));
    expect(page?.next_cursor).not.toBeNull();
  });

  it('neither repeat nor miss a run while newer ones are added and shown ones removed', async () => {
    const added: string[] = [];
    const { names } = await walk('', async (page) => {
      const runId = `added-${page}`;
      added.push(runId);
      await insertRun(runs.db, { dagId: 'alpha', runId, run_after: day(9), state: 'queued' });
    });
    expect(names).toEqual(['beta:asset', 'beta:one', 'Three%x', 'three_x', 'two', 'one']);
    await runs.db.deleteFrom('dag_runs').where('run_id', 'in', added).execute();
  });

  it('apply filters', async () => {
    expect((await walk('state=success')).names).toEqual(['beta:asset', 'beta:one', 'one']);
  });

  it('are refused in an order they were not made for, or made up', async () => {
    const { next_cursor: cursor } = await runs.list('cursor=&limit=1');
    const withOther = await runs.get(`/api/v2/dags/~/dagRuns?cursor=${cursor ?? ''}&order_by=state`);
    expect(withOther.json()).toMatchObject({ status: 400, detail: expect.stringContaining('order_by') });
    const madeUp = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const parts of [
      ['-run_after,-id'],
      ['-run_after,-id', null, 1],
      ['-run_after,-id', 'infinity', 1],
      ['-run_after,-id', '2026-01-01T00:00:00Z', '1'],
      ['-run_after,-id', '2026-01-01T00:00:00Z', 1e300],
      ['-run_after,-id', '2026-01-01T00:00:00Z', 1, 2],
      {},
      'x',
    ]) {
      const answer = await runs.get(`/api/v2/dags/~/dagRuns?cursor=${madeUp(parts)}`);
      expect({ parts, status: answer.status }).toEqual({ parts, status: 400 });
    }
  });
});

it('pages of runs by offset, in the order of ids, stay where they are while runs are added', async () => {
  const seen: string[] = [];
  for (let offset = 0; offset < 6; offset += 2) {
    seen.push(...(await runs.list(`order_by=id&limit=2&offset=${offset}`)).dag_runs.map(nameOf));
    await insertRun(runs.db, { dagId: 'alpha', runId: `later-${offset}`, run_after: day(1), state: 'queued' });
  }
  expect(seen).toEqual(['one', 'two', 'three_x', 'Three%x', 'beta:one', 'beta:asset']);
});
