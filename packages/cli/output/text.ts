/** Formats text for a terminal. */
import stringWidth from 'string-width';

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Returns the columns of a text: combining marks take none, East Asian characters and emoji two. */
export const widthOf = (text: string): number => stringWidth(text);

export const padEnd = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));
export const padStart = (text: string, width: number): string => ' '.repeat(Math.max(0, width - widthOf(text))) + text;

// Control characters, and marks that reorder text. Text from a server must not control the terminal.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

export function printable(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Splits a text into lines of at most `width` columns, at spaces if possible. wrap-ansi is not suitable, because it
 * normalises the text and removes leading spaces of a line.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(/(?<= )/)) {
      if (line !== '' && widthOf(trimmed(line + word)) > width) {
        lines.push(trimmed(line));
        line = '';
      }
      line += word;
      while (widthOf(trimmed(line)) > width) {
        const head = headOf(line, width);
        lines.push(head);
        line = line.slice(head.length);
      }
    }
    lines.push(trimmed(line));
  }
  return lines;
}

/** Removes only ordinary spaces, because a non-breaking space belongs to the text. */
const trimmed = (line: string): string => line.replace(/ +$/, '');

function headOf(text: string, width: number): string {
  let head = '';
  for (const { segment } of SEGMENTER.segment(text)) {
    if (head !== '' && widthOf(head + segment) > width) break;
    head += segment;
  }
  return head;
}
