import fc from 'fast-check';
import { posix, win32 } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WorkspaceError } from './errors.ts';
import { parsePath } from './path.ts';

describe('a path in the workspace', () => {
  it.each(['dag.py', 'project/dag.py', 'a/b/c/d.yaml', 'Grüße/día 1.md', 'a-b_c.d/e+f@g.txt', 'console/nulls.py'])(
    '%s is taken as it is',
    (text) => {
      const { folder, name } = parsePath(text);
      expect([...folder, name].join('/')).toBe(text);
    },
  );

  it.each([
    ['..', 'must not contain'],
    ['../outside.py', 'must not contain'],
    ['a/../../outside.py', 'must not contain'],
    ['a/./b.py', 'must not contain'],
    ['/etc/passwd', 'must not start with "/"'],
    ['//server/share', 'must not start with "/"'],
    ['C:/Windows/win.ini', 'not every system'],
    ['C:dag.py', 'not every system'],
    ['file.py::$DATA', 'not every system'],
    ['..\\outside.py', 'backslash'],
    ['a\\b.py', 'backslash'],
    ['\\\\?\\C:\\x', 'backslash'],
    ['', 'is empty'],
    ['a//b.py', 'empty part'],
    ['a/', 'empty part'],
    ['.git/config', 'hidden'],
    ['.svc/secrets', 'hidden'],
    ['project/.env', 'hidden'],
    ['a/.../b', 'hidden'],
    ['project/__pycache__/dag.pyc', 'made by tools'],
    ['node_modules/x/index.js', 'made by tools'],
    ['a\0.py', 'no name can have'],
    ['a\n.py', 'no name can have'],
    ['a\u0085.py', 'no name can have'],
    ['\ud800.py', 'no name can have'],
    ['in\u202evoice.py', 'nobody can see'],
    ['a/lo\u200bader.py', 'nobody can see'],
    ['\u2066x\u2069/dag.py', 'nobody can see'],
    ['a\u2028b.py', 'nobody can see'],
    ['NUL', 'device'],
    ['con.py', 'device'],
    ['a/COM1.txt', 'device'],
    ['lpt9', 'device'],
    ['AUX.tar.gz', 'device'],
    ['a./b.py', 'dot or a space'],
    ['b.py ', 'dot or a space'],
    ['a|b', 'not every system'],
    ['what?.py', 'not every system'],
    [`${'ä'.repeat(200)}.py`, 'longer than 255 bytes'],
    ['a/'.repeat(30) + 'b', 'folders deep'],
    ['x'.repeat(2_000), 'longer than 1000'],
  ])('%j is refused: %s', (text, why) => {
    expect(() => parsePath(text)).toThrow(WorkspaceError);
    expect(() => parsePath(text)).toThrow(why);
  });

  it('that is taken stays in the workspace, on every system', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '',
        'a',
        '%2e%2e',
        '..%2f',
        '…',
        '~',
        'C:',
        '/',
        '\\',
        '..\\',
        '\u2025',
        '\uff0e\uff0e',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const text = parts.join('/');
        try {
          parsePath(text);
        } catch (error) {
          if (error instanceof WorkspaceError) return;
          throw error;
        }
        expect(posix.resolve('/workspace', text).startsWith('/workspace/')).toBe(true);
        expect(win32.resolve('C:\\workspace', text).startsWith('C:\\workspace\\')).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
