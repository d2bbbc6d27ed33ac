/** The picture of `svc runs watch`: a heading, a bar, a line per task. It is pure: text in, text out. */
import { isFinished } from '@svc/spec/states.ts';
import { padEnd, printable, widthOf, wrap } from '../output/text.ts';
import { durationText, secondsOf } from './fields.ts';
import { KINDS, countsText, taskLines } from './task-lines.ts';
import type { Kind, Snapshot, TaskLine } from './task-lines.ts';

export type FrameStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type FrameLine = { readonly text: string; readonly style?: FrameStyle };

const MARKS: Record<Kind, string> = { failed: '✖', running: '▶', retrying: '↻', waiting: '·', done: '✔', skipped: '-' };
const STYLES: Record<Kind, FrameStyle> = {
  failed: 'red',
  running: 'cyan',
  retrying: 'yellow',
  waiting: 'dim',
  done: 'green',
  skipped: 'dim',
};
const RUN_STYLES = { queued: 'dim', running: 'cyan', success: 'green', failed: 'red' } as const;

const WIDEST_BAR = 40;
const WIDEST_NAME = 40;
/** The heading, the bar, the line for hidden tasks, and the line of the cursor. */
const LINES_AROUND = 4;

/**
 * Returns at most `rows` lines of at most `columns` columns, because longer ones would scroll away and could not be
 * redrawn.
 */
export function frameOf(snapshot: Snapshot, size: { columns: number; rows: number }, trouble?: string): FrameLine[] {
  const { run, instances, waitReason } = snapshot;
  const all = taskLines(snapshot);
  const further = (waitReason === null ? 0 : 1) + (trouble === undefined ? 0 : 1);
  const shown = chosen(all, Math.max(1, size.rows - LINES_AROUND - further));
  const width = Math.min(WIDEST_NAME, Math.max(0, ...shown.map(({ taskId }) => widthOf(taskId))));
  const seconds = secondsOf(run, snapshot.at);
  const heading = `${run.dag_id}  ${run.dag_run_id}  ${run.state}${seconds === null ? '' : `  ${durationText(seconds)}`}`;
  const lines: FrameLine[] = [
    { text: heading, style: RUN_STYLES[run.state] },
    { text: `${barOf(snapshot, Math.min(WIDEST_BAR, size.columns - 2))}  ${countsText(instances)}` },
    ...(waitReason === null ? [] : [{ text: `· ${waitReason}`, style: 'dim' as const }]),
    ...shown.map((line) => ({ text: lineText(line, width), style: STYLES[line.kind] })),
  ];
  if (shown.length < all.length) {
    lines.push({ text: `  and ${all.length - shown.length} more tasks`, style: 'dim' });
  }
  if (trouble !== undefined) lines.push({ text: trouble, style: 'yellow' });
  return lines.map(({ text, ...style }) => ({ text: cut(printable(text), size.columns), ...style }));
}

/** If not all tasks fit, selects the most interesting ones and keeps their order. */
function chosen(lines: readonly TaskLine[], room: number): readonly TaskLine[] {
  if (lines.length <= room) return lines;
  const byInterest = lines.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
  const wanted = new Set(byInterest.slice(0, room));
  return lines.filter((line) => wanted.has(line));
}

const lineText = ({ taskId, kind, text, detail }: TaskLine, width: number): string =>
  `${MARKS[kind]} ${padEnd(taskId, width)}  ${[text, detail].filter((part) => part !== '').join('  ')}`;

function barOf({ run, instances }: Snapshot, width: number): string {
  const finished = instances.filter(({ state }) => isFinished(state)).length;
  // The progress of a run without tasks follows from its state.
  const share = instances.length > 0 ? finished / instances.length : run.end_date === null ? 0 : 1;
  const full = Math.floor(share * Math.max(1, width));
  return '█'.repeat(full) + '░'.repeat(Math.max(1, width) - full);
}

/** Cuts a line instead of wrapping it, because a line is one row of the screen. */
const cut = (text: string, columns: number): string => wrap(text.replaceAll('\n', ' '), Math.max(1, columns))[0] ?? '';
