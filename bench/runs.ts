// Measures runs from the trigger to the end: the scheduler alone, complete runs with real tasks, and both with years of
// history.

import type { BenchOptions } from './figure.ts';
import { benchHistory } from './runs/history.ts';
import { benchScheduler } from './runs/scheduler.ts';
import { benchSchedulers } from './runs/schedulers.ts';
import { benchTasks } from './runs/tasks.ts';

export async function run(options: BenchOptions): Promise<void> {
  const only = options.text('only');
  const repeats = options.number('runs', 3);
  const parts = {
    tasks: benchTasks,
    scheduler: benchScheduler,
    schedulers: benchSchedulers,
    history: benchHistory,
  };
  for (const [name, part] of Object.entries(parts)) {
    if (only === undefined || only === name) await part(options, repeats);
  }
}
