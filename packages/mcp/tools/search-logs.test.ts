import type { Client } from '@modelcontextprotocol/client';
import { graphOf } from '@svc/testing/engine/scripted-scheduler.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { callTool, connectHttp, readText, startToolServer } from '@svc/testing/mcp/connect.ts';
import { logLine, startFailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import type { FailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import type { searchLogsOutput } from './search-logs.ts';

let world: FailedRuns;
let tools: Awaited<ReturnType<typeof startToolServer>>;
let client: Client;
let runId: string;
beforeAll(async () => {
  world = await startFailedRuns();
  tools = await startToolServer(world.server.url);
  client = await connectHttp(tools.url, await world.server.login());
  await world.register(
    'etl',
    graphOf({ load: [], mapped: [] }, () => ({ policy: { retries: 1, retry_delay: 0 } })),
  );
  const log = (tryNumber: number) =>
    logLine(`try ${tryNumber} begins`) +
    Array.from({ length: 150 }, (_, n) => logLine(`row ${n}: Error in column ${n}`)).join('') +
    logLine('50% done\nDéjà vu: ERROR in the second line');
  ({ runId } = await world.run('etl', { load: (tryNumber) => ({ state: 'failed', log: log(tryNumber) }) }));
});
afterAll(async () => {
  await client?.close();
  await tools?.close();
  await world?.close();
});

const search = (input: Record<string, unknown>) =>
  callTool<z.infer<typeof searchLogsOutput>>(client, 'search_logs', {
    dag_id: 'etl',
    run_id: runId,
    task_id: 'load',
    ...input,
  });

describe('a search', () => {
  it('finds a text in any letter case, with line numbers, in the first try unless told otherwise', async () => {
    const { structured, text } = await search({ query: 'ROW 7:' });
    expect(structured).toMatchObject({ try_number: 1, map_index: -1, query: 'ROW 7:', is_complete: true });
    expect(structured.matches).toEqual([
      { line_number: 9, text: '[2026-11-15T06:31:12.123456Z] INFO - row 7: Error in column 7' },
    ]);
    expect(text).toContain('1 matching line in the log of try 1 of load');
    expect(text).toContain('| 9: [2026-11-15T06:31:12.123456Z] INFO - row 7: Error in column 7');
    expect((await search({ query: 'try 2 begins' })).structured.matches).toEqual([]);
    expect((await search({ query: 'try 2 begins', try_number: 2 })).structured.matches).toHaveLength(1);
  });

  it('is for the text as it is, not for a pattern', async () => {
    expect((await search({ query: 'row .' })).structured.matches).toEqual([]);
    expect((await search({ query: '50% done' })).structured.matches).toHaveLength(1);
    expect((await search({ query: 'DÉJÀ' })).structured.matches).toEqual([
      { line_number: 153, text: 'Déjà vu: ERROR in the second line' },
    ]);
  });

  it('stops at max_matches and says so', async () => {
    const first = await search({ query: 'error' });
    expect([first.structured.matches.length, first.structured.is_complete]).toEqual([20, false]);
    expect(first.text).toContain('stopped at 20 matches and there are more: raise max_matches (up to 100)');
    const most = await search({ query: 'error', max_matches: 100 });
    expect([most.structured.matches.length, most.structured.is_complete]).toEqual([100, false]);
    expect(most.text).toContain('there are more: search for something more exact');
    const exact = await search({ query: 'error in the', max_matches: 1 });
    expect([exact.structured.matches.length, exact.structured.is_complete]).toEqual([1, true]);
  });

  it('without a match says what else to try', async () => {
    const { structured, text, isError } = await search({ query: 'no such text' });
    expect([isError, structured.matches, structured.is_complete]).toEqual([false, [], true]);
    expect(text).toContain('another try may have it');
  });

  it('shows the place of the match in a line of a hundred thousand characters', async () => {
    await world.writeLog(
      { dagId: 'etl', runId, taskId: 'mapped' },
      logLine(`${'x'.repeat(8_000)}needle${'y'.repeat(90_000)}`),
    );
    const { structured } = await search({ task_id: 'mapped', query: 'NEEDLE' });
    expect(structured.matches[0]?.text).toContain('needle');
    expect(structured.matches[0]?.text.length).toBeLessThan(2_100);
  });

  it('finds the log of one instance of a mapped task', async () => {
    const instances = world.engine.scope
      .updateTable('task_instances')
      .set({ map_index: 3 })
      .where('task_id', '=', 'mapped');
    await instances.execute();
    await world.writeLog({ dagId: 'etl', runId, taskId: 'mapped', mapIndex: 3 }, logLine('third'));
    expect((await search({ task_id: 'mapped', map_index: 3, query: 'third' })).structured.matches).toHaveLength(1);
    const { isError, text } = await search({ task_id: 'mapped', query: 'third' });
    expect([isError, text]).toEqual([
      true,
      'not found: `mapped` is a mapped task: say which instance with map_index; its 1 instance has a map_index from 3 to 3',
    ]);
    expect((await search({ task_id: 'mapped', map_index: 17, query: 'third' })).text).toBe(
      'not found: `mapped` has no instance with map_index 17: its 1 instance has a map_index from 3 to 3',
    );
    expect((await search({ map_index: 0, query: 'x' })).text).toBe(
      'not found: `load` is not mapped: leave map_index out',
    );
    expect(await readText(client, `log://task/etl/${runId}/mapped/3/1`)).toMatch(
      /try 1 of mapped\[3\] in run .*third/s,
    );
    await expect(readText(client, `log://task/etl/${runId}/mapped/1`)).rejects.toThrow(
      'say which instance with map_index',
    );
    await expect(readText(client, `log://task/etl/${runId}/mapped/4/1`)).rejects.toThrow('map_index from 3 to 3');
    await expect(readText(client, `log://task/etl/${runId}/mapped/-1/1`)).rejects.toThrow('map_index in the URI');
  });
});

it.each([
  [{ max_matches: 101 }, 'max_matches: must be a whole number from 1 to 100'],
  [{ max_matches: 0 }, 'max_matches: must be a whole number from 1 to 100'],
  [{ try_number: 0 }, 'try_number: must be a whole number from 1 to 2147483647'],
  [{ query: '' }, 'query: must be a text of 1 to 1000 characters'],
  [{ query: 'x'.repeat(1_001) }, 'query: must be a text of 1 to 1000 characters'],
  [{ task_id: '../x' }, 'task_id: must be a task id'],
  [{ task_id: '..' }, 'task_id: must be a task id'],
])('%j is refused with what is allowed', async (input, message) => {
  const { isError, text } = await search({ query: 'x', ...input });
  expect([isError, text]).toEqual([true, expect.stringContaining(message)]);
});

it('a try that does not exist is not found', async () => {
  const { isError, text } = await search({ query: 'x', try_number: 9 });
  expect([isError, text]).toEqual([true, expect.stringContaining('there is no try 9 of `load`: its tries are 1 to 2')]);
});
