/**
 * Renders the surroundings of failures as compact text: schedule, earlier runs, skips, pools, files that do not
 * compile.
 */
import { nameOf } from '../diagnosis/summary.ts';
import { quoteUntrusted } from '../text/untrusted.ts';
import type { DiagnoseRunOutput } from './diagnose-run-shapes.ts';

/** Empty for a triggered run of a DAG without a schedule. */
export function scheduleLines({
  schedule,
  logical_date: date,
  logical_date_local: local,
}: DiagnoseRunOutput): string[] {
  if (schedule === null || schedule.summary === null) return [];
  const description = schedule.description === null ? '' : ` (${JSON.stringify(schedule.description)})`;
  const facts = [
    `Schedule ${JSON.stringify(schedule.summary)}${description} in the zone ${schedule.timezone ?? 'UTC'}`,
    `catchup ${schedule.catchup ? 'on' : 'off'}`,
    ...(schedule.is_paused ? ['paused'] : []),
    ...(schedule.start_date === null ? [] : [`from ${schedule.start_date}`]),
    ...(schedule.end_date === null ? [] : [`until ${schedule.end_date}`]),
    `next run ${schedule.next_run_after ?? 'none'}${schedule.note === null ? '' : `: ${schedule.note}`}`,
  ];
  const logical = date === null ? [] : [`Logical date ${date}${local === null ? '' : `, which is ${local}`}.`];
  return [`${facts.join(', ')}.`, ...logical];
}

export function historyLines({ history, version_numbers: versions }: DiagnoseRunOutput): string[] {
  if (history === null) return [];
  const { previous_run: previous, last_success: success, newest_version: newest } = history;
  const lines: string[] = [];
  if (previous !== null) {
    const streak = history.failed_before > 1 ? `, the last ${history.failed_before} failed in a row` : '';
    const good = success === null ? 'none of the compared runs succeeded' : `the last to succeed was ${success.run_id}`;
    lines.push(
      previous.state === 'success'
        ? `The run before, ${previous.run_id}, succeeded.`
        : `The run before, ${previous.run_id}, is ${previous.state}${streak}; ${good}.`,
    );
  }
  if (history.version_changed) {
    lines.push(
      `It ran with version ${versions.at(-1)} of the DAG, registered ${history.version_created_at}; the run before had version ${previous?.version_numbers.at(-1) ?? 'none'}: the DAG was changed in between.`,
    );
  }
  const own = versions.at(-1);
  if (newest !== null && own !== undefined && newest > own) {
    lines.push(`The newest version of the DAG is ${newest}; this run has version ${own}.`);
  }
  return lines;
}

export function skippedLines({ skipped, counts }: DiagnoseRunOutput): string[] {
  if (skipped.length === 0) return [];
  const rest = counts.skipped - skipped.length;
  const lines = skipped.map((one) => `- ${nameOf(one)}: ${one.why}`);
  return ['', 'Skipped:', ...lines, ...(rest > 0 ? [`and ${rest} more`] : [])];
}

export function poolLines({ pools }: DiagnoseRunOutput): string[] {
  return pools.flatMap((pool) => {
    const waiting = `${pool.waiting.join(', ')} ${pool.waiting.length === 1 ? 'waits' : 'wait'} for it`;
    if (pool.slots === null) return ['', `Pool ${JSON.stringify(pool.name)} does not exist; ${waiting}.`];
    const holders = pool.held_by.map(
      (one) => `- held by ${one.task} of ${one.dag_id}, run ${one.run_id}, since ${one.since ?? 'just now'}`,
    );
    const own = pool.is_held_by_this_run
      ? [
          'All its slots are held by tasks of this same run: if one of those waits for a task without a slot, neither ends.',
        ]
      : [];
    return [
      '',
      `Pool ${JSON.stringify(pool.name)}: ${pool.occupied} of ${pool.slots} slots are occupied; ${waiting}.`,
      ...holders,
      ...own,
    ];
  });
}

export function importErrorLines({ import_errors: errors }: DiagnoseRunOutput): string[] {
  return errors.flatMap(({ file, at, lines }) => [
    '',
    `File ${JSON.stringify(file)} does not compile since ${at}; what it defines stays as it was before, or is missing:`,
    quoteUntrusted('compile error', lines),
  ]);
}
