/**
 * Runs several jobs, some in parallel, and shows their progress: a live list on a terminal, otherwise one line per
 * finished job.
 */
import { Listr } from 'listr2';
import { messageOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

export type Job<Result> = {
  readonly title: string;
  /** `say` reports what the job is doing. */
  readonly run: (say: (text: string) => void) => Promise<Result>;
  /** The text of its line at the end. */
  readonly outcome: (result: Result) => string;
};

export type Ended<Result> = { ok: true; result: Result } | { ok: false; error: unknown };

/** Never rejects, so one failure does not stop the others. Results are in the order of the jobs. */
export async function runMany<Result>(
  context: CliContext,
  options: { jobs: readonly Job<Result>[]; atOnce: number; plain: boolean },
): Promise<Ended<Result>[]> {
  const { jobs, atOnce } = options;
  const results: Ended<Result>[] = [];
  const runOne = async (index: number, job: Job<Result>, say: (text: string) => void): Promise<Ended<Result>> => {
    const ended = await job.run(say).then(
      (result): Ended<Result> => ({ ok: true, result }),
      (error: unknown): Ended<Result> => ({ ok: false, error }),
    );
    results[index] = ended;
    return ended;
  };
  if (options.plain || !context.stdout.isTTY) {
    await inTurns(jobs, atOnce, async (job, index) => {
      const ended = await runOne(index, job, () => {});
      if (jobs.length === 1) return; // the result of the command says the same
      const text = ended.ok ? job.outcome(ended.result) : `failed: ${firstLine(messageOf(ended.error))}`;
      context.stderr.write(`${job.title}: ${text}\n`);
    });
    return results;
  }
  const list = new Listr(
    jobs.map((job, index) => ({
      title: job.title,
      task: async (_: unknown, task: { title: string; output: string }) => {
        const ended = await runOne(index, job, (text) => (task.output = text));
        if (!ended.ok) throw new Error(`${job.title}: ${firstLine(messageOf(ended.error))}`);
        task.title = `${job.title}: ${job.outcome(ended.result)}`;
      },
    })),
    { concurrent: atOnce, exitOnError: false, registerSignalListeners: false },
  );
  await list.run();
  return results;
}

async function inTurns<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) await work(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
