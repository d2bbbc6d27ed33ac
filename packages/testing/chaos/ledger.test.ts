import { expect, it } from 'vitest';
import { createLedger } from './ledger.ts';

it('believes an acknowledged write and nothing else', () => {
  const ledger = createLedger();
  ledger.acknowledge('a', '1');
  expect(ledger.check('a', '1')).toBeUndefined();
  expect(ledger.check('a', null)).toBe('a is null, but can only be "1"');
  expect(ledger.check('never written', '1')).toBe('never written is "1", but can only be null');
});

it('accepts old and new after a write without an answer, until the next fact', () => {
  const ledger = createLedger();
  ledger.acknowledge('a', '1');
  ledger.doubt('a', '2');
  expect([ledger.check('a', '1'), ledger.check('a', '2')]).toEqual([undefined, undefined]);
  ledger.acknowledge('a', '3');
  expect(ledger.check('a', '2')).toBe('a is "2", but can only be "3"');
  expect(ledger.writes('a')).toEqual({ certain: 2, possible: 3 });
});
