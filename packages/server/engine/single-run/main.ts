/**
 * The engine of `dag.test()`: a program that plans runs in memory. The Python process that runs the tasks starts it,
 * and sends one JSON object per line. Each is answered by one line, `{"ok": true, …}` or `{"ok": false, "error"}`. The
 * program ends with its input.
 */
import { createInterface } from 'node:readline';
import { momentOf, nowIso } from '@svc/spec/clock.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import { inferManualInterval } from '@svc/spec/timetables/next-run.ts';
import type { InstanceKey } from '../plan/types.ts';
import type { NewLocalRun } from './new-rows.ts';
import { scheduledRuns } from './scheduled-runs.ts';
import type { ScheduleQuestion } from './scheduled-runs.ts';
import { createSingleRun } from './single-run.ts';
import type { LocalOutcome, SingleRun } from './single-run.ts';

type Interval = Pick<NewLocalRun, 'data_interval_start' | 'data_interval_end'>;

type Opening = {
  op: 'open';
  spec: CompiledSpec;
  given: Omit<NewLocalRun, keyof Interval>;
  /** Absent: the timetable decides. */
  interval?: Interval;
  /** True where the caller moves its clock: a retry then waits for its delay. Otherwise it is due at once. */
  keepsDelays?: boolean;
  /** True: a control plane has accepted the conf. */
  isChecked?: boolean;
};

type Question = {
  run: number;
  /** The caller's clock. Absent: the clock of this machine. */
  now?: string;
} & (
  | Opening
  | ({ op: 'schedule' } & ScheduleQuestion)
  | ({ op: 'ended'; outcome: LocalOutcome } & InstanceKey)
  | ({ op: 'resumed'; event: string } & InstanceKey)
  | ({ op: 'due' } & InstanceKey)
  | { op: 'close' }
);

const runs = new Map<number, SingleRun>();
/** Questions are answered one at a time, so all runs share the clock of the question. */
let told: string | undefined;
const clock = (): string => told ?? nowIso();

async function answer(question: Question): Promise<object> {
  told = question.now === undefined ? undefined : momentOf(question.now);
  if (question.op === 'schedule') return { ok: true, runs: scheduledRuns(question) };
  if (question.op === 'open') return open(question.run, question);
  if (question.op === 'close') return { ok: runs.delete(question.run) };
  const run = runs.get(question.run);
  if (!run) throw new Error(`run ${question.run} is not open`);
  if (question.op === 'ended') return { ok: true, step: run.ended(question, question.outcome) };
  if (question.op === 'resumed') return { ok: true, step: run.resumed(question, question.event) };
  return { ok: true, step: run.due(question) };
}

async function open(
  number: number,
  { spec, given, interval = intervalOf(spec, given), keepsDelays = false, isChecked = false }: Opening,
): Promise<object> {
  const problems = isChecked ? [] : await problemsOf(spec, given.conf);
  if (problems.length > 0) return { ok: false, problems };
  const run = createSingleRun(spec, { ...given, ...interval }, { clock, keepsDelays });
  runs.set(number, run);
  return { ok: true, interval, step: run.begin() };
}

/** The check of params is loaded only for a DAG that has some. */
async function problemsOf(spec: CompiledSpec, conf: NewLocalRun['conf']): Promise<string[]> {
  if (spec.params.length === 0) return [];
  const { paramProblems } = await import('../runs/run-params.ts');
  return paramProblems(spec.params, conf);
}

function intervalOf(spec: CompiledSpec, { logical_date: date }: Opening['given']): Interval {
  const at = date === null ? null : instantFromIso(date);
  if (at === null) return { data_interval_start: null, data_interval_end: null };
  const { start, end } = inferManualInterval(spec.schedule, at);
  return { data_interval_start: instantToIso(start), data_interval_end: instantToIso(end) };
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let reply: object;
  try {
    reply = await answer(parseExact(line) as Question);
  } catch (error) {
    reply = { ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
