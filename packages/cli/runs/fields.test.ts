import { expect, it } from 'vitest';
import { instanceOf } from '@svc/testing/cli/instances.ts';
import { triesText } from './fields.ts';

it('the tries of a task say how many of them infrastructure has taken, because these used up no retry', () => {
  const of = (fields: object): string => triesText(instanceOf('load', fields));
  expect(of({ try_number: 1, max_tries: 0 })).toBe('1');
  expect(of({ try_number: 2, max_tries: 3 })).toBe('2/4');
  expect(of({ try_number: 2, max_tries: 1, infrastructure_retries: 1 })).toBe('2/2 (1 lost)');
});
