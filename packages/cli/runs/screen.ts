/** Redraws some lines in place on a terminal. Earlier output and the last picture stay. */
import type { WriteStream } from 'node:tty';
import { styled } from '../output/terminal.ts';
import type { FrameLine } from './frame.ts';

export type Screen = {
  size(): { columns: number; rows: number };
  draw(lines: readonly FrameLine[]): void;
  /** Shows the cursor again. */
  end(): void;
};

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const up = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A`);

const DEFAULT_SIZE = { columns: 80, rows: 24 };

export function openScreen(stream: WriteStream): Screen {
  let drawn = 0;
  return {
    size: () => ({
      columns: stream.columns > 0 ? stream.columns : DEFAULT_SIZE.columns,
      rows: stream.rows > 0 ? stream.rows : DEFAULT_SIZE.rows,
    }),
    draw(lines) {
      const body = lines.map(
        ({ text, style }) => `${style === undefined ? text : styled(stream, style, text)}${CLEAR_LINE_END}\n`,
      );
      // One write, so that a half-drawn picture is never visible.
      stream.write(`${HIDE_CURSOR}${up(drawn)}\r${body.join('')}${CLEAR_BELOW}`);
      drawn = lines.length;
    },
    end() {
      if (drawn > 0) stream.write(SHOW_CURSOR);
      drawn = 0;
    },
  };
}
