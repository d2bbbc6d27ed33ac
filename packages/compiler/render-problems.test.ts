import { describe, expect, it } from 'vitest';
import { renderProblem, renderProblems } from './render-problems.ts';

const NOWHERE = { file: 'dag.py', line: null, column: null, message: 'is wrong', instead: '', traceback: '' };

describe('a problem', () => {
  it('begins with its place, as far as that is known, so that editors can jump to it', () => {
    expect(renderProblem(NOWHERE)).toBe('dag.py: is wrong');
    expect(renderProblem({ ...NOWHERE, line: 3 })).toBe('dag.py:3: is wrong');
    expect(renderProblem({ ...NOWHERE, line: 3, column: 5 })).toBe('dag.py:3:5: is wrong');
    expect(renderProblem({ ...NOWHERE, line: 3 }, { path: (file) => `etl/${file}`, label: 'error: ' })).toBe(
      'etl/dag.py:3: error: is wrong',
    );
  });

  it('ends with what to do instead', () => {
    expect(renderProblem({ ...NOWHERE, instead: 'Do this' })).toBe('dag.py: is wrong\n    Do this');
  });

  it('shows the source line of a single frame, without frames of Python itself', () => {
    const traceback =
      '  File "/usr/lib/python3.11/ast.py", line 50, in parse\n    return compile(\n  File "/d/dag.py", line 2\n    with DAG("x")\n                 ^\nSyntaxError: is wrong\n';
    expect(renderProblem({ ...NOWHERE, line: 2, traceback })).toBe(
      'dag.py:2: is wrong\n    with DAG("x")\n                 ^',
    );
  });

  it('shows how it came there when that was through several files', () => {
    const traceback =
      '  File "/d/dag.py", line 2, in <module>\n    f()\n  File "/d/lib.py", line 7, in f\n    1 / 0\nZeroDivisionError\n';
    expect(renderProblem({ ...NOWHERE, line: 2, traceback })).toBe(
      'dag.py:2: is wrong\n    File "/d/dag.py", line 2, in <module>\n      f()\n    File "/d/lib.py", line 7, in f\n      1 / 0',
    );
  });

  it('stands below the one before', () => {
    expect(renderProblems([NOWHERE, NOWHERE])).toBe('dag.py: is wrong\ndag.py: is wrong');
  });
});
