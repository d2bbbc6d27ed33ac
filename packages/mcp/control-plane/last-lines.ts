/**
 * Limit of one line before it is cleaned and shortened. It is longer than what is shown, because escape sequences may
 * take space.
 */
const MAX_RAW_LINE_LENGTH = 4_000;

/** Returns the last lines of a text. Only these are in memory, however long the text and its lines are. */
export async function readLastLines(texts: AsyncIterable<string>, maxLines: number): Promise<string[]> {
  let lines: string[] = [];
  let open = '';
  for await (const text of texts) {
    const pieces = (open + text).split('\n');
    open = (pieces.pop() ?? '').slice(0, MAX_RAW_LINE_LENGTH);
    for (const piece of pieces) lines.push(piece.slice(0, MAX_RAW_LINE_LENGTH));
    if (lines.length > 2 * maxLines) lines = lines.slice(-maxLines);
  }
  if (open !== '') lines.push(open);
  return lines.slice(-maxLines);
}
