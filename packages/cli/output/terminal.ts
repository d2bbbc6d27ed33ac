import { styleText } from 'node:util';
import type { WriteStream } from 'node:tty';
import { renderTable } from './table.ts';
import type { Column } from './table.ts';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Adds colour only if the stream is a terminal. It respects NO_COLOR and FORCE_COLOR. */
export const styled = (stream: WriteStream, style: Style, text: string): string =>
  styleText(style, text, { stream, validateStream: true });

/** Returns undefined for pipes and files, because their readers need whole lines. */
export const columnsOf = (stream: WriteStream): number | undefined =>
  stream.isTTY && stream.columns > 0 ? stream.columns : undefined;

export function printTable<Row>(stream: WriteStream, table: { columns: readonly Column<Row>[]; rows: readonly Row[] }) {
  const text = renderTable({
    ...table,
    width: columnsOf(stream),
    styleHeader: (line) => styled(stream, 'bold', line),
  });
  stream.write(text);
}
