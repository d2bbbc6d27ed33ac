/**
 * Import files that were written to stop the command that reads them. Whatever is in a file, reading it ends with entries or with
 * a message of ours, and takes time in proportion to its size: a reader that takes the square needs hours for a MiB.
 * `npm run bench -- properties --only hostile-imports` searches with other seeds.
 */
import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calibrate } from '@svc/testing/event-loop/held-turns.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { readSources } from '../import/read-sources.ts';

const MIB = 1024 * 1024;
/** How many times as long as JSON.parse and JSON.stringify of a MiB the reading of one file may take. */
const TIMES_A_MIB = 400;

let folder: string;
/** Milliseconds of processor time for a MiB of JSON. */
let unit: number;
beforeAll(() => {
  unit = calibrate();
  folder = mkdtempSync(join(tmpdir(), 'svc-imports-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FILES = [
  'connections.json',
  'connections.yaml',
  'connections.env',
  'variables.json',
  'variables.yaml',
  'variables.env',
  'pools.json',
  '.env',
  'airflow_settings.yaml',
] as const;
const EACH_READER = ['connections.json', 'connections.yaml', 'connections.env', 'airflow_settings.yaml'] as const;
type FileName = (typeof FILES)[number];

const usedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Fails for any error but a message to the user, and for work that grows faster than the file. */
async function readWhole(name: FileName, text: string): Promise<void> {
  const path = join(folder, name);
  writeFileSync(path, text);
  const before = usedMs();
  const refusal = await readSources({} as CliContext, path, undefined).then(
    () => '',
    (error: unknown) => {
      if (error instanceof CliError) return error.message;
      throw new Error(`${name}: ${String(error).slice(0, 500)}`, { cause: error });
    },
  );
  const took = usedMs() - before;
  expect(refusal.length, refusal.slice(0, 300)).toBeLessThan(1_000);
  // A machine that has become busy since then takes longer for everything.
  const most = took <= TIMES_A_MIB * unit ? took : TIMES_A_MIB * calibrate();
  expect(took, `${name}: processor time in ms`).toBeLessThanOrEqual(most);
}

const chain = (count: number): string =>
  `a0: &a0 [x]\n${Array.from({ length: count }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}]\n`).join('')}`;

describe('an import file', () => {
  it.each([
    ['20,000 chained aliases', chain(20_000)],
    ['half a million open brackets', '['.repeat(500_000)],
    ['half a million open maps', '{"a":'.repeat(500_000)],
    ['a key twice', '{"a": 1, "a": 2}'],
    ['half a surrogate pair', '{"a": "\\ud800"}'],
    ['a name that is a prototype', '{"__proto__": {"value": "x"}, "constructor": 1}'],
    ['a MiB of quotes', '"'.repeat(MIB)],
    ['a MiB of backslashes', `{"a": "${'\\\\'.repeat(MIB / 2)}`],
    ['a MiB of spaces and no line break', `a${' '.repeat(MIB)}b`],
    ['a URI of a MiB of colons', `{"a": "x://${':'.repeat(MIB)}"}`],
    ['a URI of a MiB of at signs', `{"a": "x://${'@'.repeat(MIB)}"}`],
    ['a URI of a MiB of slashes', `{"a": "x://${'/'.repeat(MIB)}"}`],
    ['an env file of one long name', `${'A'.repeat(MIB)}`],
    ['an env file of equals signs', `A${'='.repeat(MIB)}`],
    ['numbers of many digits', `{"a": ${'9'.repeat(MIB)}}`],
    ['17 MiB', ' '.repeat(17 * MIB)],
  ])('with %s is read to its end, or refused with a message', async (_what, text) => {
    for (const name of EACH_READER) await readWhole(name, text);
  });
});

/** What the syntax of each format is made of, and what its readers look for. */
const PIECES = {
  json: ['[', ']', '{', '}', '"a":', '"', ',', '1e9', '-', '\\u0000', '\\ud800', '"value":', '"conn_type":"x",', '"extra":', '\\', ' '], // prettier-ignore
  yaml: ['[', '{a: ', '- ', '? ', '&a ', '*a ', ': ', '"', "'", '\n', '  ', '#', '|\n', '!t ', '---\n', '\t', 'airflow:\n', '  connections:\n', '- conn_id: a\n', '1.50', '<<: '], // prettier-ignore
  env: ['A=', 'AIRFLOW_CONN_A=', 'AIRFLOW_VAR_A=', 'export ', '"', "'", '\n', '\r\n', '=', ' ', '#', '\\', 'x://', '@', ':', '/', '?', '%', '%zz', '[', ']'], // prettier-ignore
} as const;

/** A few pieces, each a few or many thousand times: what is only slow for long texts is not found in short ones. */
const textOf = (kind: keyof typeof PIECES) =>
  fc
    .array(fc.tuple(fc.constantFrom(...PIECES[kind]), fc.oneof(fc.integer({ min: 1, max: 5 }), fc.nat(MIB))), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.map(([piece, times]) => piece.repeat(Math.min(times, MIB / piece.length))).join(''));

const kindOf = (name: FileName): keyof typeof PIECES =>
  name.endsWith('env') ? 'env' : name.endsWith('json') ? 'json' : 'yaml';

it('import files of any content are read to their end, or refused with a message', async () => {
  const files = fc.constantFrom(...FILES).chain((name) => fc.tuple(fc.constant(name), textOf(kindOf(name))));
  await fc.assert(
    fc.asyncProperty(files, ([name, text]) => readWhole(name, text)),
    { numRuns: 25 },
  );
}, 600_000);
