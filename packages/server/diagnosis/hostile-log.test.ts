import { calibrate, watchHeldTurns } from '@svc/testing/event-loop/held-turns.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HeldTurns } from '@svc/testing/event-loop/held-turns.ts';
import { readTail } from './log-tail.ts';
import type { TailReader } from './log-tail.ts';
import { modelsOfTask } from './models.ts';

const LENGTH = 4_000;
const KEY = { tenantId: 't', dagId: 'd', runId: 'r', taskId: 'a', mapIndex: -1, tryNumber: 1 };

let turns: HeldTurns;
beforeAll(() => {
  turns = watchHeldTurns();
});
afterAll(() => turns.stop());

/** A store with one log. */
function logOf(text: string): TailReader {
  const bytes = Buffer.from(text);
  return {
    size: async () => bytes.length,
    async *read(_key, { from = 0, to = bytes.length } = {}) {
      yield bytes.subarray(from, to);
    },
  } as TailReader;
}

/** 50 ms, and more on a machine that needs longer for other work, too. */
function expectShortTurns(): void {
  const held = turns.longest();
  expect(held).toBeLessThan(Math.max(50, 6 * calibrate()));
}

const repeated = (part: string): string => part.repeat(Math.ceil(LENGTH / part.length));

it.each([
  ['beginnings of tokens', repeated('eyJ.')],
  ['signs of an assignment', repeated('=')],
  ['parameters of an address', repeated('&token=')],
  ['parts of ids', repeated('12345678-')],
  ['a frame of a traceback', `  File "${'/'.repeat(990)}"`],
  ['spaces', ` ${' '.repeat(LENGTH)}x`],
])('the diagnosis of a log whose lines are %s holds no turn of the event loop', async (_what, line) => {
  const records = Array.from({ length: 400 }, () => JSON.stringify({ level: 'info', event: line }));
  await readTail(logOf(`${records.join('\n')}\n`), KEY, 40); // compiles the expressions
  turns.longest();
  const { lines } = await readTail(logOf(`${records.join('\n')}\n`), KEY, 40);
  expect(lines.length).toBeGreaterThan(0);
  expectShortTurns();
});

it('arguments of a task with names of dbt only are searched for models in linear time', () => {
  const operator = { module: 'm', name: 'n' };
  const texts = Object.fromEntries(Array.from({ length: 200 }, (_, number) => [`a${number}`, repeated('dbt ')]));
  turns.longest();
  expect(modelsOfTask({ task_id: 'a', operator, arguments: texts })).toEqual([]);
  expectShortTurns();
});
