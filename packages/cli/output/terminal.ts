import { styleText } from 'node:util';
import type { WriteStream } from 'node:tty';
import { renderTable } from './table.ts';
import type { Column } from './table.ts';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Coloured only where the stream is a terminal; NO_COLOR and FORCE_COLOR are honoured. */
export const styled = (stream: WriteStream, style: Style, text: string): string =>
  styleText(style, text, { stream, validateStream: true });

/** Undefined for pipes and files: what reads them wants whole lines. */
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
