import { describe, expect, it } from 'vitest';
import { stopInTurn, stopParts } from './stop-parts.ts';

function recorder() {
  const errors: [string, unknown][] = [];
  return {
    errors,
    error: (details: object, message: string) => void errors.push([message, (details as { part: string }).part]),
  };
}
const never = (): Promise<void> => new Promise(() => {});

describe('the parts of a process', () => {
  it('stop all at once, and one that fails or stays is told by its name', async () => {
    const log = recorder();
    const stopped: string[] = [];
    await stopParts(
      log,
      {
        good: async () => void stopped.push('good'),
        absent: () => undefined,
        broken: () => Promise.reject(new Error('no')),
        throwing: () => {
          throw new Error('at once');
        },
        stuck: never,
      },
      50,
    );
    expect(stopped).toEqual(['good']);
    expect(log.errors.toSorted()).toEqual([
      ['a part did not stop cleanly', 'broken'],
      ['a part did not stop cleanly', 'throwing'],
      ['a part did not stop in time', 'stuck'],
    ]);
  });

  it('stop in turn where one needs the other, which is not waited for when it is stuck', async () => {
    const log = recorder();
    const order: string[] = [];
    await stopInTurn(
      log,
      {
        first: async () => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          order.push('first');
        },
        stuck: never,
        last: async () => void order.push('last'),
      },
      50,
    );
    expect(order).toEqual(['first', 'last']);
    expect(log.errors).toEqual([['a part did not stop in time', 'stuck']]);
  });
});
