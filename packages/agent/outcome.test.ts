import { describe, expect, it } from 'vitest';
import { FAILURE_CAUSES, isFailureCause, mayReport } from '@svc/spec/failure-causes.ts';
import { failureOfExit } from './exit-cause.ts';
import { outcomeOfResult } from './outcome.ts';
import type { ResultMessage } from './outcome.ts';

const seen = { seconds: 1, executionTimeout: null };
const outcomeOf = (message: object, view: typeof seen | { seconds: number; executionTimeout: number } = seen) =>
  outcomeOfResult(JSON.stringify({ type: 'result', ...message }), message as ResultMessage, view);

describe('the result a task reports', () => {
  it.each(Object.keys(FAILURE_CAUSES))('with the cause %s is believed only if it is the task’s to name', (cause) => {
    const { failure } = outcomeOf({ state: 'failed', failure: { cause, text: 'why' } });
    const isOwn = isFailureCause(cause) && mayReport('task', cause);
    expect(failure).toEqual({ cause: isOwn ? cause : 'exception', text: 'why' });
  });

  it('of its timeout is believed when as much time has passed, and not before', () => {
    const message = { state: 'failed', failure: { cause: 'exception', text: 'AirflowTaskTimeout: too long' } };
    expect(outcomeOf(message, { seconds: 2.1, executionTimeout: 2 }).failure?.cause).toBe('execution_timeout');
    expect(outcomeOf(message, { seconds: 1.9, executionTimeout: 2 }).failure?.cause).toBe('exception');
    expect(outcomeOf(message).failure?.cause).toBe('exception');
  });

  it('of a failure says that the process has called its callbacks, which nobody else must call again', () => {
    const message = { state: 'failed', failure: { cause: 'exception', text: 'AirflowTaskTimeout: too long' } };
    expect(outcomeOf(message, { seconds: 2.1, executionTimeout: 2 })).toMatchObject({ calledCallbacks: true });
    expect(outcomeOf({ state: 'success' })).not.toHaveProperty('calledCallbacks');
  });

  it('keeps values as they were written', () => {
    const line =
      '{"type":"result","state":"success","xcoms":[{"key":"a","value":1.0},{"key":"b\\n","value":{"x":[12345678901234567890]}}]}';
    expect(outcomeOfResult(line, JSON.parse(line) as ResultMessage, seen).xcoms).toEqual([
      { key: 'a', value: '1.0' },
      { key: 'b\n', value: '{"x":[12345678901234567890]}' },
    ]);
  });

  it.each([{}, { state: 'running' }, { state: 7 }, { state: 'reschedule' }, { state: 'reschedule', reschedule_at: 5 }])(
    'that makes no sense is a failure of the task: %j',
    (message) => {
      expect(outcomeOf(message)).toMatchObject({ state: 'failed', failure: { cause: 'exception' } });
    },
  );

  it.each([
    { xcoms: 'x' },
    { xcoms: [1, { key: 1 }, { key: 'k' }] },
    { skips: 'x', rendered_fields: 3, failure: null },
  ])('with parts that make no sense is taken without them: %j', (parts) => {
    expect(outcomeOf({ state: 'success', ...parts })).toEqual({ state: 'success', xcoms: [] });
  });
});

describe('a process that ends without a result', () => {
  const exit = (values: object) => ({ status: null, signal: null, ...values });

  it('was killed for want of memory only if the kernel says so, and only by SIGKILL', () => {
    expect(failureOfExit(exit({ signal: 9 }), () => true).cause).toBe('out_of_memory');
    expect(failureOfExit(exit({ signal: 9 }), () => false).cause).toBe('process_killed');
    expect(failureOfExit(exit({ signal: 11 }), () => true)).toEqual({
      cause: 'process_killed',
      text: 'the task process was killed by SIGSEGV',
    });
  });

  it('exited, or could not be started, with the reason', () => {
    expect(failureOfExit(exit({ status: 0 }), () => false).text).toContain('exit code 0');
    expect(failureOfExit(exit({ status: 1, error: 'no more processes' }), () => false).text).toContain(
      'no more processes',
    );
  });
});
