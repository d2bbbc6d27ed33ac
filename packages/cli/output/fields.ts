import type { WriteStream } from 'node:tty';
import { padEnd, printable, widthOf } from './text.ts';
import { styled } from './terminal.ts';

/** Prints one object with a line per field. Fields with null are omitted. */
export function printFields(stream: WriteStream, fields: readonly (readonly [string, string | number | null])[]): void {
  const shown = fields.filter(([, value]) => value !== null);
  const width = Math.max(...shown.map(([name]) => widthOf(name)));
  for (const [name, value] of shown) {
    stream.write(`${styled(stream, 'bold', padEnd(name, width))}  ${printable(String(value))}\n`);
  }
}
