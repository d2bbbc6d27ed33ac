/** What a terminal shows after it was sent this text: enough of one for what the watch display sends. */
export function screenAfter(text: string): string[] {
  const lines: string[] = [''];
  let [row, column] = [0, 0];
  for (const [part] of text.matchAll(/\u001b\[[0-9;?]*[A-Za-z]|\r?\n|\r|[^\u001b\r\n]+/g)) {
    const [, count = '', command] = /^\u001b\[([0-9;?]*)([A-Za-z])$/.exec(part) ?? [];
    if (command === 'A') row = Math.max(0, row - Number(count));
    else if (command === 'K') lines[row] = (lines[row] ?? '').slice(0, column);
    else if (command === 'J') {
      lines.length = row + 1;
      lines[row] = (lines[row] ?? '').slice(0, column);
    } else if (command !== undefined) {
      if (!'mhl'.includes(command)) throw new Error(`this terminal does not know ${JSON.stringify(part)}`);
    } else if (part.endsWith('\n')) {
      row += 1;
      column = 0;
      lines[row] ??= '';
    } else if (part === '\r') column = 0;
    else {
      const line = (lines[row] ?? '').padEnd(column);
      lines[row] = line.slice(0, column) + part + line.slice(column + part.length);
      column += part.length;
    }
  }
  return lines;
}
