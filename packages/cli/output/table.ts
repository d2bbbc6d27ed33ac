import { padEnd, padStart, printable, widthOf, wrap } from './text.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Numbers are aligned at the right. */
  readonly align?: 'left' | 'right';
};

const GAP = 2;
const NARROWEST = 8;

/**
 * Renders aligned columns. If `width` is given, the widest columns shrink and their cells wrap. Nothing is cut, because
 * two lines are better than half a value. Without a width (a pipe, a file), every row is one line.
 */
export function renderTable<Row>(input: {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  width?: number | undefined;
  /** Rows of one group are printed together under this heading. All groups share one layout. */
  groupOf?: (row: Row) => string;
  /** Applied to headings after they have their final width. */
  styleHeader?: (line: string) => string;
}): string {
  const { columns, rows, width, groupOf = () => '', styleHeader = (line: string) => line } = input;
  const cells = rows.map((row) => columns.map((column) => oneLine(column.value(row))));
  const natural = columns.map((column, index) =>
    Math.max(widthOf(column.title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const widths = width === undefined ? natural : fit(natural, width);
  const line = (texts: readonly string[]): string =>
    columns
      .map(({ align }, index) => (align === 'right' ? padStart : padEnd)(texts[index] ?? '', widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd();
  const output = [styleHeader(line(columns.map((column) => column.title)))];
  let group = '';
  for (const [index, row] of rows.entries()) {
    const next = groupOf(row);
    if (next !== group) output.push('', styleHeader(next));
    group = next;
    output.push(...rowLines(cells[index] ?? [], widths).map(line));
  }
  return output.map((text) => `${text}\n`).join('');
}

/** Escapes line breaks, because they would look like further rows. */
const oneLine = (text: string): string => printable(text.replaceAll(/\r?\n/g, '\\n'));

function rowLines(row: readonly string[], widths: readonly number[]): string[][] {
  const wrapped = row.map((text, index) => wrap(text, widths[index] ?? NARROWEST));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => wrapped.map((lines) => lines[at] ?? ''));
}

function fit(natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1);
  for (let excess = total() - available; excess > 0; excess = total() - available) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    const index = widths.indexOf(widest);
    const next = Math.max(NARROWEST, ...widths.filter((width) => width < widest));
    widths[index] = Math.max(next, widest - excess);
    if (widths[index] === widest) widths[index] = widest - 1;
  }
  return widths;
}
