/** What a run and its tries have waited for, for people. */
import type { CliContext } from '../context.ts';
import { printable } from '../output/text.ts';
import { after } from './print-decisions.ts';
import type { Waits } from './read-waits.ts';
import type { Wait } from './waits-of-run.ts';

export function printWaits(
  { stdout }: CliContext,
  { tasks, past, run }: Waits,
  { startedAt, only }: { startedAt: string; only: string | undefined },
): void {
  const isWanted = ({ task_id: id }: { task_id: string }): boolean => only === undefined || id === only;
  const span = (from: string, to: string): string =>
    `from ${after(startedAt, from).trim()} to ${after(startedAt, to).trim()}`;
  const lines: string[] = [];
  if (run && only === undefined) {
    lines.push(`the run waited for max_active_runs (${run.limit}) ${span(run.from, run.to)}: ${some(run.held_by)}`);
  }
  for (const one of past.filter(isWanted)) {
    lines.push(`${nameOf(one)} waited for its past ${span(one.from, one.to)}: it became ${one.state} in ${one.run}`);
  }
  for (const wait of tasks.filter(isWanted)) {
    for (const { limit, size, from, to, held_by: held } of wait.limits) {
      lines.push(`${nameOf(wait)} waited for ${limit} (${size}) ${span(from, to)}: held by ${some(held)}`);
    }
    if (wait.limits.length === 0) {
      lines.push(`${nameOf(wait)} waited ${span(wait.from, wait.to)}: no limit was full in the recording`);
    }
  }
  if (lines.length > 0) stdout.write(`Waits:\n${lines.map((line) => `  ${printable(line)}\n`).join('')}`);
}

const nameOf = ({ task_id: id, map_index: index }: Pick<Wait, 'task_id' | 'map_index'>): string =>
  index < 0 ? id : `${id}[${index}]`;

const NAMED = 3;
const some = (names: readonly string[]): string =>
  names.length > NAMED ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more` : names.join(', ');
