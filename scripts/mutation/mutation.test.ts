import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ACCEPTED, isOf } from './accepted.ts';
import { findMutants } from './find-mutants.ts';
import { SWITCH, instrument } from './instrument.ts';
import { countVerdicts, readEvents } from './verdicts.ts';

const numbered = (source: string) => findMutants('a.ts', source).map((mutant, index) => ({ ...mutant, id: index + 1 }));

/** What the function answers with each mutant on; `off` is the one without. */
function answers(source: string, call: string): Record<string, unknown> {
  const mutants = numbered(source);
  const text = stripTypeScriptTypes(instrument(source, mutants));
  const run = new Function(SWITCH, `${text}; return ${call}`) as (isOn: (id: number) => boolean) => unknown;
  const withOn = (on: number): unknown => {
    try {
      return run((id) => id === on);
    } catch (error) {
      return (error as Error).name;
    }
  };
  return Object.fromEntries([
    ['off', withOn(0)],
    ...mutants.map(({ id, kind, replacement }) => [`${kind}: ${replacement}`, withOn(id)]),
  ]);
}

it('every mutant of an instrumented text changes what it is meant to change, and nothing is changed while all are off', () => {
  const source = `function f(a: number, b: readonly number[]): string {
    if (a < 2 && b.some((n) => n > 0)) return 'yes';
    return \`no \${a}\`;
  }`;
  expect(answers(source, 'f(1, [1, -1])')).toEqual({
    off: 'yes',
    'block: {}': undefined,
    'operator: ((a < 2) || (b.some((n) => n > 0)))': 'yes',
    'condition: true': 'yes',
    'condition: false': 'no 1',
    'operator: ((a) <= (2))': 'yes',
    'operator: ((a) >= (2))': 'no 1',
    'method: b.every((n) => n > 0)': 'no 1',
    'operator: ((n) >= (0))': 'yes',
    'operator: ((n) <= (0))': 'yes',
    'text: ""': '',
    'text: ``': 'yes',
  });
});

it('mutants leave types, names of properties, imports and the words of errors alone', () => {
  const source = `import { x } from './x.ts';
    type Kind = 'a' | 'b';
    export function f(kind: Kind): { 'named': Kind } {
      throw new TypeError('words for people');
    }`;
  expect(numbered(source).map(({ kind }) => kind)).toEqual(['block']);
});

it('a call of a method that every object inherits is left as it is', () => {
  const source = 'const f = (a: number): string => a.toString().valueOf();';
  expect(numbered(source)).toEqual([]);
});

it('the sources of both cores can be instrumented', () => {
  for (const file of ['packages/server/engine/plan/plan.ts', 'packages/spec/timetables/cron-expression.ts']) {
    const source = readFileSync(join(import.meta.dirname, '..', '..', file), 'utf8');
    const mutants = numbered(source);
    expect(mutants.length).toBeGreaterThan(20);
    expect(stripTypeScriptTypes(instrument(source, mutants))).toContain(`${SWITCH}(${mutants.length})`);
  }
});

it('a mutant counts as killed when a test failed or its process ended, and apart when only loading reached it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-mutation-'));
  try {
    const mutants = numbered('const f = (a: number) => (a > 1 ? "x" : "y");').slice(0, 6);
    expect(mutants).toHaveLength(6);
    const events = [
      { kind: 'reached', ids: [1, 2, 3, 4], atLoad: [4, 5] },
      { kind: 'begun', id: 1 },
      { kind: 'killed', id: 1, name: 'a test' },
      { kind: 'begun', id: 2 },
      { kind: 'begun', id: 3 },
      { kind: 'crashed' },
    ];
    const file = join(folder, 'results.jsonl');
    await writeFile(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    const counts = countVerdicts(mutants, readEvents(file));
    expect(counts).toMatchObject({ killed: 2, static: 1, percent: 40 });
    expect(counts.survived.map(({ id }) => id)).toEqual([2, 4]);
    expect(counts.unreached.map(({ id }) => id)).toEqual([6]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('each accepted survivor is still a mutant of its file and has a reason', () => {
  const files = new Set(ACCEPTED.map(({ file }) => file));
  const sourceOf = (file: string): string => readFileSync(join(import.meta.dirname, '..', '..', file), 'utf8');
  const mutants = [...files].flatMap((file) => findMutants(file, sourceOf(file)));
  for (const accepted of ACCEPTED) {
    expect(accepted.reason).not.toBe('');
    expect(
      mutants.some((mutant) => isOf(accepted, mutant)),
      `${accepted.file}: ${accepted.original}`,
    ).toBe(true);
  }
});
