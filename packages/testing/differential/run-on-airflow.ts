/** Runs generated DAG files on Airflow 3.2.2 (scripts/golden/differential.py): one interpreter, one file after the other. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CACHE, ROOT } from '../paths.ts';
import { installAirflow } from '../airflow/airflow-processes.ts';
import type { Outcome } from './outcome.ts';

const PYTHON = join(CACHE, 'airflow-3.2.2', 'bin', 'python');
const SCRIPT = join(ROOT, 'scripts', 'golden', 'differential.py');
/** With a migrated database, which takes a minute to make. */
const PREPARED_HOME = join(CACHE, 'airflow-3.2.2-differential');
/** What Airflow said, by a hash of the file. */
const KEPT = join(CACHE, 'airflow-3.2.2-outcomes');
/** A file that takes longer does not end; the interpreter is started again after it. */
const FILE_LIMIT_MS = 300_000;
const START_LIMIT_MS = 1_200_000;
const STUCK = 'does not end';

type Line = { file: string; seconds: number } & Outcome;

const environment = (home: string): NodeJS.ProcessEnv => ({
  ...process.env,
  AIRFLOW_HOME: home,
  PYTHONWARNINGS: 'ignore',
});

async function prepareHome(): Promise<void> {
  if (existsSync(PREPARED_HOME)) return;
  const home = mkdtempSync(join(CACHE, 'airflow-home-'));
  const child = spawn(PYTHON, [SCRIPT, home, '--prepare'], { env: environment(home), stdio: ['ignore', 2, 2] });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`Airflow could not make its database: exit code ${String(code)}`);
  renameSync(home, PREPARED_HOME);
}

type Input = {
  folder: string;
  files: readonly string[];
  onOutcome?: (file: string, outcome: Outcome) => void;
};

/** Answers with the outcomes by file, which are also told as they come. What it said once of a file it would say again. */
export async function runOnAirflow({ folder, files, onOutcome }: Input): Promise<Map<string, Outcome>> {
  const found = new Map<string, Outcome>();
  mkdirSync(KEPT, { recursive: true });
  const keptAs = (file: string): string => join(KEPT, `${hashOf(folder, file)}.json`);
  const unknown = files.filter((file) => {
    if (!existsSync(keptAs(file))) return true;
    const outcome = JSON.parse(readFileSync(keptAs(file), 'utf8')) as Outcome;
    found.set(file, outcome);
    onOutcome?.(file, outcome);
    return false;
  });
  if (unknown.length === 0) return found;
  await askAirflow({
    folder,
    files: unknown,
    onOutcome(file, outcome) {
      found.set(file, outcome);
      // Another time, it may have had more of the machine.
      if (!('broken' in outcome && outcome.broken === STUCK)) writeFileSync(keptAs(file), JSON.stringify(outcome));
      onOutcome?.(file, outcome);
    },
  });
  return found;
}

function hashOf(folder: string, file: string): string {
  const hash = createHash('sha256');
  for (const path of [join(folder, file), join(folder, 'fuzz_probe.py'), SCRIPT]) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 32);
}

async function askAirflow(input: Required<Input>): Promise<void> {
  await installAirflow();
  await prepareHome();
  const left = [...input.files];
  const add = input.onOutcome;
  const notes = join(input.folder, 'notes-airflow');
  mkdirSync(notes, { recursive: true });
  while (left.length > 0) {
    const home = mkdtempSync(join(tmpdir(), 'svc-differential-'));
    cpSync(PREPARED_HOME, home, { recursive: true });
    try {
      for await (const line of linesOf({ folder: input.folder, notes, home, files: left })) {
        const { file, seconds: _, ...outcome } = line;
        left.splice(left.indexOf(file), 1);
        add(file, outcome as Outcome);
      }
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
    const stuck = left.shift();
    if (stuck !== undefined) add(stuck, { broken: STUCK });
  }
}

/** Ends when all were run, or when the interpreter has ended or was ended at one of them. */
async function* linesOf(input: {
  folder: string;
  notes: string;
  home: string;
  files: readonly string[];
}): AsyncGenerator<Line> {
  // It warns about everything.
  const output = openSync(join(input.folder, 'airflow.log'), 'a');
  const child = spawn('nice', ['-n', '10', PYTHON, SCRIPT, input.folder, input.notes], {
    env: environment(input.home),
    stdio: ['pipe', 'pipe', output],
    detached: true,
  });
  if (!child.stdin || !child.stdout) throw new Error('the interpreter of Airflow has no pipes');
  const end = (): void => {
    if (child.pid === undefined || child.exitCode !== null) return;
    process.kill(-child.pid, 'SIGKILL');
  };
  let timer = setTimeout(end, START_LIMIT_MS);
  child.stdin.on('error', () => {}); // it has ended, which the end of its lines tells
  child.stdin.end(input.files.map((file) => `${file}\n`).join(''));
  try {
    for await (const text of createInterface(child.stdout)) {
      clearTimeout(timer);
      timer = setTimeout(end, FILE_LIMIT_MS);
      yield JSON.parse(text) as Line;
    }
  } finally {
    clearTimeout(timer);
    end();
  }
}
