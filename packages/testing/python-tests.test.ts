import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pythonEnvironment } from './python-environment.ts';
import { pythonTests } from './python-tests.ts';

const python = await pythonEnvironment();
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-python-tests-'));
  mkdirSync(join(folder, 'tests'));
  writeFileSync(join(folder, 'tests', '__init__.py'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What each test of a module ended with, by the test's own name. */
async function endsOf(text: string): Promise<Record<string, string | undefined>> {
  writeFileSync(join(folder, 'tests', 'test_it.py'), `import os, unittest\n${text}`);
  const tests = pythonTests({ python, folder });
  const [module, ...others] = await tests.list();
  expect(others).toEqual([]);
  if (module === undefined) throw new Error('no module was listed');
  expect(module.module).toBe('tests.test_it');
  const run = await tests.run(module);
  return Object.fromEntries(module.ids.map((id) => [id.split('.').at(-1), run.failureOf(id)]));
}

const klass = (body: string): string =>
  `class It(unittest.TestCase):\n${body
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')}\n`;

it('a test that passes has no failure, and one that fails has its own traceback', async () => {
  const ends = await endsOf(
    klass(`
def test_good(self): print("words of the test")
def test_bad(self): self.assertEqual(1, 2)
def test_worse(self): raise ValueError("broken")`),
  );
  expect(ends).toEqual({
    test_good: undefined,
    test_bad: expect.stringContaining('AssertionError: 1 != 2'),
    test_worse: expect.stringContaining('ValueError: broken'),
  });
});

it('every failed subtest is named', async () => {
  const { test_parts: failure } = await endsOf(
    klass(`
def test_parts(self):
    for number in (1, 2, 3):
        with self.subTest(number=number): self.assertEqual(number, 2)`),
  );
  expect(failure).toContain('(number=1)');
  expect(failure).toContain('(number=3)');
  expect(failure).not.toContain('(number=2)');
});

it('a skipped test fails, and so does one that passes against expectation', async () => {
  const ends = await endsOf(
    klass(`
@unittest.skip("not today")
def test_skipped(self): pass
@unittest.expectedFailure
def test_unexpected(self): pass`),
  );
  expect(ends).toEqual({
    test_skipped: expect.stringContaining('not today'),
    test_unexpected: expect.stringContaining('expected to fail'),
  });
});

it('what a crash kept from running fails with how the process ended and what it said', async () => {
  const ends = await endsOf(
    klass(`
def test_1_good(self): pass
def test_2_crash(self):
    print("last words", flush=True)
    os._exit(7)
def test_3_never(self): pass`),
  );
  for (const failure of Object.values(ends)) {
    expect(failure).toContain('exit code 7');
    expect(failure).toContain('last words');
  }
});

it('the tests of a class that cannot be set up fail with the reason', async () => {
  const ends = await endsOf(
    klass(`
@classmethod
def setUpClass(cls): raise ValueError("no agent")
def test_one(self): pass
def test_two(self): pass`),
  );
  expect(Object.values(ends)).toEqual([
    expect.stringContaining('ValueError: no agent'),
    expect.stringContaining('ValueError: no agent'),
  ]);
});

it('a class that cannot be torn down fails its tests although they passed', async () => {
  const ends = await endsOf(
    klass(`
@classmethod
def tearDownClass(cls): raise ValueError("left something behind")
def test_one(self): pass`),
  );
  expect(ends).toEqual({ test_one: expect.stringContaining('left something behind') });
});

it('a module that cannot be imported is a test that fails', async () => {
  const ends = await endsOf('import nothing_of_this_name\n');
  expect(Object.values(ends)).toEqual([expect.stringContaining("No module named 'nothing_of_this_name'")]);
});
