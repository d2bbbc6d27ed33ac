/**
 * Files that were written to stop a control plane. Whatever is in them, reading them ends, within the memory of the thread that
 * reads, and holds the event loop no longer than any request does (packages/server/api/security/event-loop.test.ts).
 * `npm run bench -- properties --only hostile-files` searches with other seeds.
 */
import { strToU8, zipSync } from 'fflate';
import fc from 'fast-check';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calibrate, watchHeldTurns } from '@svc/testing/event-loop/held-turns.ts';
import type { HeldTurns } from '@svc/testing/event-loop/held-turns.ts';
import { createReadingThread } from './reading-thread.ts';
import type { WorkspaceReader } from './workspace-reader.ts';

const DAG = 'from airflow.sdk import DAG\nDAG("a")\n';
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('');

let reader: WorkspaceReader;
let turns: HeldTurns;
/** Milliseconds of processor time that one turn may take here. */
let limit: number;

beforeAll(async () => {
  reader = createReadingThread();
  turns = watchHeldTurns();
  limit = Math.max(50, 6 * calibrate());
});
afterAll(async () => {
  turns?.stop();
  await reader?.close();
});

type Files = Record<string, string | Uint8Array>;

/** Fails when it cannot be read to its end, or when another turn had to wait for it three times. */
async function readWhole(files: Files): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'svc-hostile-'));
  try {
    for (const [name, content] of Object.entries({ 'flat/dags/a.py': DAG, ...files })) {
      mkdirSync(join(root, dirname(name)), { recursive: true });
      writeFileSync(join(root, name), content);
    }
    let held = Infinity;
    // A collection of garbage may fall into any: the best of three counts.
    for (let time = 0; time < 3 && held > limit; time += 1) {
      turns.longest();
      const units = await reader.units(root);
      for (const unit of units) if (unit.kind === 'project') await expectRead(unit);
      held = Math.min(held, turns.longest());
    }
    // A machine that has become busy since then takes longer for everything.
    const allowed = held <= limit ? limit : Math.max(limit, 6 * calibrate());
    expect(held, 'the longest turn in ms').toBeLessThanOrEqual(allowed);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function expectRead(unit: { path: string; root: string }): Promise<void> {
  const read = await reader.project(unit);
  if (read.ok) return;
  // The thread was stopped, for its time or its memory.
  for (const { message } of read.problems) expect(message).not.toContain('cannot be read');
}

const chain = (count: number): string => `a0: &a0 [x]\n${lines(count, (n) => `a${n + 1}: &a${n + 1} [*a${n}]\n`)}`;

describe('the attacks that froze a control plane', () => {
  it.each([
    ['20,000 chained aliases', chain(20_000)],
    ['450,000 nested brackets', '['.repeat(450_000)],
    ['55,000 keys in one map', lines(55_000, (n) => `k${n}: 1\n`)],
    ['60 MB of description', `description: ${'x'.repeat(60_000_000)}`],
  ])('take no turn of the event loop any more: %s', async (_what, text) => {
    await readWhole({ 'project/svc.yaml': text, 'flat/svc.yaml': text });
  });
});

/** What the syntax of each file is made of, and what its readers look for. */
const PIECES = {
  yaml: [
    '[',
    '{a: ',
    '- ',
    '? ',
    '&a ',
    '*a ',
    ', ',
    ': ',
    '"',
    "'",
    '\n',
    '  ',
    '#',
    '|\n',
    '!t ',
    '%',
    '---\n',
    '\t',
    '\\',
    'tasks:\n',
    'dag_source: x\n',
    'k',
  ],
  requirements: [
    'a\\\n',
    '-r requirements.txt\n',
    '-c constraints.txt\n',
    '[',
    ']',
    '://a:',
    '@',
    ';',
    '#',
    ' ',
    '-e .\n',
    'apache-airflow[a,b]==3\n',
    '--hash=sha256:0 \\\n',
    'pkg>=1\n',
    '${',
  ],
  dockerfile: [
    'RUN ',
    'ENV A=$A$A\n',
    'ARG A=${A:-x}\n',
    '\\\n',
    '"',
    "'",
    '<<EOF\n',
    'EOF\n',
    'pip install ',
    '--a=b ',
    '&& ',
    'apt-get install -y ',
    '$',
    '{',
    '#\n',
    'aaaa',
    '=',
    '[',
    ' ',
  ],
  toml: [
    '[a]\n',
    '[[a]]\n',
    '[',
    '{',
    ']',
    '}',
    'a.',
    'a=1\n',
    '"""',
    "'''",
    '"',
    '\\u',
    '#',
    ',',
    '\n',
    '[project]\ndependencies = [',
    '"pkg",',
  ],
  ignore: ['*', '**/', '?', '[', ']', '!', '/', 'a', '\\', '\n', ' ', '#', '[^a]', 'a*'],
  settings: ['[core]\n', '[', ']', 'a = 1\n', 'dags_folder = ', '=', ':', '"', "'", '\n', ' ', '$', '#', 'A='],
} as const;

/** A few pieces, each a few or many thousand times: what is only slow for long texts is not found in short ones. */
const textOf = (kind: keyof typeof PIECES, most: number) =>
  fc
    .array(fc.tuple(fc.constantFrom(...PIECES[kind]), fc.oneof(fc.integer({ min: 1, max: 5 }), fc.nat(most))), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.map(([piece, times]) => piece.repeat(Math.min(times, most / piece.length))).join(''));

const archives = fc
  .tuple(fc.array(fc.nat(255), { maxLength: 12 }), fc.nat(), fc.boolean())
  .map(([noise, at, isCut]) => {
    const zip = zipSync({ 'dag.py': strToU8(DAG + ' '.repeat(100_000)), 'a/b.py': strToU8(DAG) });
    for (const [index, byte] of noise.entries()) zip[(at + index * 7) % zip.length] = byte;
    return isCut ? zip.subarray(0, at % zip.length) : zip;
  });

describe('files of any content', () => {
  it('are read to their end, and hold up nobody', async () => {
    const workspaces = fc.record(
      {
        'project/svc.yaml': textOf('yaml', 70_000),
        'flat/svc.yaml': textOf('yaml', 70_000),
        'flat/requirements.txt': textOf('requirements', 1_100_000),
        'flat/constraints.txt': textOf('requirements', 40_000),
        'flat/packages.txt': textOf('requirements', 70_000),
        'flat/Dockerfile': textOf('dockerfile', 130_000).map((text) => `FROM apache/airflow:3.2\n${text}`),
        'flat/airflow.cfg': textOf('settings', 1_100_000),
        'flat/.env': textOf('settings', 300_000),
        'flat/dags/.airflowignore': textOf('ignore', 70_000),
        'flat/dags/b.zip': archives,
        'other/pyproject.toml': textOf('toml', 300_000),
        'other/dags/a.py': fc.constant(DAG),
      },
      { requiredKeys: ['other/dags/a.py'] },
    );
    await fc.assert(
      fc.asyncProperty(workspaces, (files) => readWhole(files as Files)),
      // Twenty workspaces find what many find; other seeds are searched at night.
      { numRuns: 20 },
    );
  }, 600_000);
});
