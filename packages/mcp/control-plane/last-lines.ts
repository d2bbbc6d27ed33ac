/** Of one line, before it is cleaned and cut to what is shown: escape sequences may take up the rest. */
const MAX_RAW_LINE_LENGTH = 4_000;

/** The last lines of a text. However long it is, and however long its lines are, only those are kept. */
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
