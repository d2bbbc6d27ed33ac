import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { describe, expect, it } from 'vitest';
import { openScreen } from './screen.ts';
import { screenAfter } from '@svc/testing/cli/terminal.ts';

const terminal = () => {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 80, rows: 24 });
  return { stream: stream as unknown as WriteStream, sent: () => String(stream.read() ?? '') };
};

describe('the live display', () => {
  it('draws over its last picture and over nothing else, also when the next is shorter', () => {
    const { stream, sent } = terminal();
    stream.write('$ svc runs watch etl\n');
    const screen = openScreen(stream);
    screen.draw([{ text: 'a long first line', style: 'red' }, { text: 'second' }, { text: 'third' }]);
    screen.draw([{ text: 'short' }, { text: '2nd' }, { text: '3rd' }, { text: '4th' }]);
    screen.draw([{ text: 'last' }, { text: 'line' }]);
    screen.end();
    stream.write('Run r1 succeeded.\n');
    expect(screenAfter(sent())).toEqual(['$ svc runs watch etl', 'last', 'line', 'Run r1 succeeded.', '']);
  });

  it('gives the cursor back, and only when it took it', () => {
    const drawn = terminal();
    const screen = openScreen(drawn.stream);
    screen.draw([{ text: 'x' }]);
    screen.end();
    expect(drawn.sent().endsWith('\u001b[?25h')).toBe(true);
    const idle = terminal();
    openScreen(idle.stream).end();
    expect(idle.sent()).toBe('');
  });
});
