import { describe, expect, it } from 'vitest';
import { complaintsIn, condense, errorIn } from './error-in-log.ts';

const TRACEBACK = `[2026-11-16T19:57:40.778170Z] INFO - Running select x
[2026-11-16T19:57:40.785966Z] ERROR - Task failed with exception
Traceback (most recent call last):
  File "/opt/svc/python/airflow/providers/standard/operators/python.py", line 63, in execute
    value = self.execute_callable()
            ^^^^^^^^^^^^^^^^^^^^^^^
  File "/opt/svc/python/svc_runtime/run/callables.py", line 55, in call_with_context
    result = function(*args)
             ^^^^^^^^^^^^^^^
  File "/opt/airflow/dags/shop.py", line 15, in load_orders
    return len(db.execute(statement).fetchall())
               ^^^^^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/urllib/request.py", line 216, in urlopen
    return opener.open(url, data, timeout)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/socket.py", line 706, in readinto
    return self._sock.recv_into(b)
           ^^^^^^^^^^^^^^^^^^^^^^^
ConnectionResetError: [Errno 104] Connection reset by peer`.split('\n');

const CHAIN = `Traceback (most recent call last):
  File "/w/shop.py", line 3, in parse
    return int(text)
ValueError: invalid literal for int() with base 10: 'x'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/w/shop.py", line 9, in load
    raise LoadError("row 7") from error
svc_dag_shop.LoadError: row 7
the second line of the message
[2026-11-16T19:57:41.000000Z] INFO - cleaning up`.split('\n');

describe('the error of a log', () => {
  it('is what was raised, with the place in the code of the author and not of a library', () => {
    expect(errorIn(TRACEBACK)).toEqual({
      type: 'ConnectionResetError',
      message: '[Errno 104] Connection reset by peer',
      file: 'shop.py',
      line: 15,
      function: 'load_orders',
      code: 'return len(db.execute(statement).fetchall())',
      root_cause: null,
    });
  });

  it('of a chain is its end, with what it began with, and ends where the next record begins', () => {
    expect(errorIn(CHAIN)).toEqual({
      type: 'svc_dag_shop.LoadError',
      message: 'row 7\nthe second line of the message',
      file: 'shop.py',
      line: 9,
      function: 'load',
      code: 'raise LoadError("row 7") from error',
      root_cause: {
        type: 'ValueError',
        message: "invalid literal for int() with base 10: 'x'",
        file: 'shop.py',
        line: 3,
        function: 'parse',
        code: 'return int(text)',
      },
    });
  });

  it('is the last one: an earlier one may have been handled', () => {
    expect(errorIn([...CHAIN, ...TRACEBACK])).toMatchObject({ type: 'ConnectionResetError', root_cause: null });
  });

  it('is found in the output of a program that the task passes on line by line', () => {
    const passedOn = CHAIN.slice(0, 4).map((line) => `[2026-11-16T19:57:41.000000Z] INFO - ${line}`);
    expect(errorIn(passedOn)).toMatchObject({ type: 'ValueError', file: 'shop.py', line: 3, function: 'parse' });
  });

  it('is nothing where there is none, or half of one', () => {
    expect(errorIn([])).toBeNull();
    expect(errorIn(['ValueError: only a line'])).toBeNull();
    expect(errorIn(TRACEBACK.slice(0, 6))).toBeNull();
    expect(errorIn(['Traceback (most recent call last):', '!'])).toBeNull();
  });
});

it('condensed, a traceback keeps the code of the author and the last step into a library', () => {
  expect(condense(TRACEBACK)).toEqual([
    '[2026-11-16T19:57:40.778170Z] INFO - Running select x',
    '[2026-11-16T19:57:40.785966Z] ERROR - Task failed with exception',
    'Traceback (most recent call last):',
    '  File "/opt/airflow/dags/shop.py", line 15, in load_orders',
    '    return len(db.execute(statement).fetchall())',
    '  File "/usr/lib/python3.11/socket.py", line 706, in readinto',
    '    return self._sock.recv_into(b)',
    'ConnectionResetError: [Errno 104] Connection reset by peer',
  ]);
  expect(condense(['    indented text', 'a', ''])).toEqual(['    indented text', 'a', '']);
});

it('complaints before the shown lines are found, the last of them', () => {
  const lines = ['[2026-11-16T19:57:41Z] ERROR - first', 'fine', 'Permission denied', 'terror', 'fatal: third'];
  expect(complaintsIn(lines, 2)).toEqual(['Permission denied', 'fatal: third']);
  expect(complaintsIn(lines, 9)).toHaveLength(3);
});
