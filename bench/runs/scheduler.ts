/** Measures the scheduler alone: task instances per second, and whether the cost of one grows with their number. */
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { median, rounded } from '../figure.ts';
import type { BenchOptions } from '../figure.ts';
import { chainOf, independent, mapped, startNullEngine } from './null-engine.ts';
import type { NullEngine } from './null-engine.ts';

type Shape = {
  figure: string;
  tasks: number;
  once(engine: NullEngine, dagId: string): Promise<void>;
  prepare(engine: NullEngine, dagId: string): Promise<void>;
};

const oneRun = async (engine: NullEngine, dagId: string): Promise<void> => {
  await engine.trigger(dagId);
  await engine.idle(dagId);
};

const manyRuns =
  (runs: number) =>
  async (engine: NullEngine, dagId: string): Promise<void> => {
    // Runs are triggered in parallel, as on a busy control plane, so that all are active before the first one ends.
    for (let made = 0; made < runs; made += 10) {
      await Promise.all(Array.from({ length: 10 }, () => engine.trigger(dagId)));
    }
    await engine.idle(dagId);
  };

const SHAPES: readonly Shape[] = [
  {
    figure: 'one run of 1,000 independent tasks',
    tasks: 1_000,
    prepare: (e, id) => e.register(id, independent(1_000)),
    once: oneRun,
  },
  {
    figure: 'one run of 10,000 independent tasks',
    tasks: 10_000,
    prepare: (e, id) => e.register(id, independent(10_000)),
    once: oneRun,
  },
  {
    figure: 'one run of 1,000 mapped instances, 64 at once',
    tasks: 1_000,
    prepare: (e, id) => e.register(id, mapped(1_000), 64),
    once: oneRun,
  },
  {
    figure: 'one run of 10,000 mapped instances, 64 at once',
    tasks: 10_000,
    prepare: (e, id) => e.register(id, mapped(10_000), 64),
    once: oneRun,
  },
  {
    figure: '100 active runs of 20 tasks in a chain',
    tasks: 2_000,
    prepare: (e, id) => e.register(id, chainOf(20)),
    once: manyRuns(100),
  },
  {
    figure: '1,000 active runs of 20 tasks in a chain',
    tasks: 20_000,
    prepare: (e, id) => e.register(id, chainOf(20)),
    once: manyRuns(1_000),
  },
];

/** Compares small with large. A slope of 1 means that a task costs the same. */
const SLOPES = [
  { figure: 'cost per task, run of 10,000 against 1,000 tasks', small: 0, large: 1 },
  { figure: 'cost per task, 10,000 mapped instances against 1,000', small: 2, large: 3 },
  { figure: 'cost per task, 1,000 active runs against 100', small: 4, large: 5 },
] as const;

export async function benchScheduler(options: BenchOptions, repeats: number): Promise<void> {
  const cluster = await startScratchCluster({ fsync: 'on' });
  try {
    const engine = await startNullEngine(await cluster.createDatabase());
    await engine.register('warm_up', independent(500));
    await oneRun(engine, 'warm_up');
    const perTask: number[] = [];
    for (const [index, shape] of SHAPES.entries()) {
      options.say(shape.figure);
      const dagId = `bench_${index}`;
      await shape.prepare(engine, dagId);
      const seconds: number[] = [];
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        const from = performance.now();
        await shape.once(engine, dagId);
        seconds.push((performance.now() - from) / 1_000);
      }
      const taken = median(seconds);
      perTask.push(taken / shape.tasks);
      const figure = `null executor: ${shape.figure}`;
      options.print({
        bench: 'runs',
        figure,
        value: rounded(shape.tasks / taken, 0),
        unit: 'task instances/s',
        runs: repeats,
      });
    }
    for (const { figure, small, large } of SLOPES) {
      const value = rounded((perTask[large] ?? Number.NaN) / (perTask[small] ?? Number.NaN));
      options.print({ bench: 'runs', figure, value, unit: 'ratio', runs: repeats });
    }
    await engine.close();
  } finally {
    await cluster.remove();
  }
}
