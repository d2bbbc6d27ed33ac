/** docs/threat-model.md promises what is tested: a test that is renamed or removed takes the proof of a line with it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const PAGE = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8');
const [lines = '', list = ''] = PAGE.split('\n## Tests\n');

type NamedTest = { id: string; file: string; name: string };

const tests: NamedTest[] = [...list.matchAll(/^- \*\*(T\d+)\*\* `([^`]+)`:\n {2}“([^”]+)”$/gm)].map(
  ([, id = '', file = '', name = '']) => ({ id, file, name: name.replaceAll('\n  ', ' ') }),
);

it('every line of the threat model names tests that are in the list, and every test in the list proves a line', () => {
  expect(tests).toHaveLength([...list.matchAll(/^- /gm)].length);
  const proofs = new Set(lines.match(/\bT\d+\b/g));
  expect([...proofs].toSorted()).toEqual(tests.map(({ id }) => id).toSorted());
  const rows = lines.split('\n## OWASP')[0]?.match(/^\| (?:A|Another|The) .*\|$/gm) ?? [];
  for (const row of rows) expect(row).toMatch(/\| (?:T\d+|none) \|$/);
});

it('every test that the threat model names exists', () => {
  const textOf = (file: string): string => (existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '');
  expect(tests.filter(({ file, name }) => !textOf(file).includes(name))).toEqual([]);
});
