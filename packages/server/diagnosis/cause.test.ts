import { exitText, failureColumns } from '@svc/spec/failure-causes.ts';
import { expect, it } from 'vitest';
import { fingerprintOf, structuredCause } from './cause.ts';

it('the exit code and the signal that an agent writes are read back as values', () => {
  const killed = structuredCause(failureColumns('process_killed', exitText({ signal: 'SIGTERM' })), null);
  expect(killed).toMatchObject({ code: 'process_killed', signal: 'SIGTERM', exit_code: null });
  const exited = structuredCause(failureColumns('process_exited', exitText({ exitCode: 3 })), null);
  expect(exited).toMatchObject({ signal: null, exit_code: 3, exception: null });
});

it('lost workers, timeouts and a lack of memory are flags, so that no reader compares sentences', () => {
  expect(structuredCause(failureColumns('agent_lost'), null)).toMatchObject({ is_infrastructure: true });
  expect(structuredCause(failureColumns('execution_timeout'), null)).toMatchObject({ is_timeout: true });
  expect(structuredCause(failureColumns('out_of_memory'), null)).toMatchObject({ is_out_of_memory: true });
});

it('without a log, the exception is the one that the detail names', () => {
  const cause = structuredCause(failureColumns('exception', 'shop.LoadError: row 7: bad'), null);
  expect(cause?.exception).toMatchObject({ type: 'shop.LoadError', message: 'row 7: bad', file: null });
});

it('two failures with one cause have one fingerprint, whatever ids and numbers they name', () => {
  const of = (text: string) => fingerprintOf(failureColumns('exception', text));
  expect(of("ConnectionError: host 'a1' refused port 5432")).toBe(of("ConnectionError: host 'b2' refused port 5433"));
  expect(of('KeyError: 1')).not.toBe(of('ValueError: 1'));
  expect(of('x')).not.toBe(fingerprintOf(failureColumns('agent_lost', 'x')));
});
