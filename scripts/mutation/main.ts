/**
 * Mutation testing of the pure cores: is there a test for each condition, comparison and value of them?
 *
 *   npm run mutation                               both cores
 *   npm run mutation -- plan                       packages/server/engine/plan alone; `spec`: packages/spec alone
 *   npm run mutation -- spec --sample 300          so many mutants, chosen by --seed
 *   npm run mutation -- plan --only resize.ts      files whose path contains this
 *
 * Runs the unit tests that import a mutated module, or live beside one; those that need a database or other processes are not run.
 * Prints the survivors and the score, and fails below the goal. Mutants in code that runs once, while a module loads, cannot be
 * switched: they are counted apart (most of them are parts of schemas).
 */
import { spawn } from 'node:child_process';
import { appendFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '@svc/testing/chaos/random.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { testFilesByTier } from '@svc/testing/vitest/tiers.ts';
import { findMutants } from './find-mutants.ts';
import type { NumberedMutant } from './instrument.ts';
import { countVerdicts, readEvents, reportOf } from './verdicts.ts';
import { JOB_VARIABLE } from './switches.ts';
import type { Job } from './switches.ts';

const GOAL_PERCENT = 85;

/** `tests`: the folder whose unit tests run. */
const CORES = {
  plan: { files: 'packages/server/engine/plan/*.ts', tests: 'packages/server/engine/plan/' },
  spec: { files: 'packages/spec/**/*.ts', tests: 'packages/spec/' },
} as const;
type Core = keyof typeof CORES;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});

const say = (text: string): void => void process.stdout.write(`${text}\n`);

function mutantsOf(core: Core): NumberedMutant[] {
  const files = globSync(CORES[core].files, { cwd: ROOT })
    .filter((file) => !/\.(test|d)\.ts$/.test(file) && file.includes(options.only))
    .sort();
  const all = files.flatMap((file) => findMutants(file, readFileSync(join(ROOT, file), 'utf8')));
  return all.map((mutant, index) => ({ ...mutant, id: index + 1 }));
}

function sampled<T>(items: readonly T[]): T[] {
  if (options.sample === undefined) return [...items];
  const random = createRandom(Number(options.seed));
  const places = items.map((_, index) => ({ index, turn: random.below(2 ** 31) }));
  const chosen = new Set(
    places
      .sort((a, b) => a.turn - b.turn)
      .slice(0, Number(options.sample))
      .map(({ index }) => index),
  );
  return items.filter((_, index) => chosen.has(index));
}

const testsOf = (core: Core): string[] => testFilesByTier().unit.filter((file) => file.startsWith(CORES[core].tests));

/** A mutant that takes its process down with it is found as well: the next process goes on with the others. */
async function runAll(
  core: Core,
  { all, chosen }: { all: readonly NumberedMutant[]; chosen: readonly NumberedMutant[] },
  folder: string,
): Promise<string> {
  const results = join(folder, 'results.jsonl');
  writeFileSync(results, '');
  const byFile = Object.groupBy(all, ({ file }) => join(ROOT, file)) as Job['mutants'];
  for (;;) {
    const { killed, crashed } = readEvents(results);
    const wanted = chosen.map(({ id }) => id).filter((id) => !killed.has(id) && !crashed.has(id));
    const job: Job = { mutants: byFile, wanted, results };
    writeFileSync(join(folder, 'job.json'), JSON.stringify(job));
    const code = await runTests(testsOf(core), join(folder, 'job.json'));
    if (code === 0) return results;
    appendFileSync(results, `${JSON.stringify({ kind: 'crashed' })}\n`);
    if (readEvents(results).crashed.size === crashed.size)
      throw new Error(`the tests fail without any mutant (exit code ${code}): run ${testsOf(core).join(' ')}`);
    say('a mutant ended its process: going on without it');
  }
}

function runTests(files: readonly string[], job: string): Promise<number | null> {
  const config = join(import.meta.dirname, 'vitest.config.ts');
  const args = ['run', '--root', ROOT, '--config', config, '--reporter', 'dot', ...files];
  const child = spawn(join(ROOT, 'node_modules', '.bin', 'vitest'), args, {
    cwd: ROOT,
    env: { ...process.env, [JOB_VARIABLE]: job },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
}

async function test(core: Core): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mutation-'));
  try {
    const all = mutantsOf(core);
    const chosen = sampled(all);
    say(`${core}: ${chosen.length} of ${all.length} mutants in ${new Set(all.map(({ file }) => file)).size} files`);
    const counts = countVerdicts(chosen, readEvents(await runAll(core, { all, chosen }, folder)));
    say(reportOf(core, counts));
    if (options.json !== undefined) {
      mkdirSync(options.json, { recursive: true });
      writeFileSync(join(options.json, `${core}.json`), JSON.stringify(counts, undefined, 2));
    }
    return counts.percent;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const cores = positionals.length > 0 ? positionals : Object.keys(CORES);
for (const core of cores) {
  if (!(core in CORES)) throw new Error(`${core} is no core: name ${Object.keys(CORES).join(' or ')}`);
  const percent = await test(core as Core);
  if (percent < GOAL_PERCENT) process.exitCode = 1;
}
