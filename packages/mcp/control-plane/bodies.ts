/** Reading answers without ever holding more of them than is wanted. */

/** More than any answer of the API has; a control plane that sends more is none. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;
/** Of one line, before it is cleaned and cut to what is shown: escape sequences may take up the rest. */
const MAX_RAW_LINE_LENGTH = 4_000;

export class AnswerTooLargeError extends Error {
  constructor() {
    super(`the answer has more than ${MAX_JSON_BYTES} bytes`);
  }
}

export async function readJson(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_JSON_BYTES) throw new AnswerTooLargeError(); // leaving the loop cancels the rest
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

/** The beginning of a text; the rest is not even received. */
export async function readBeginning(response: Response, maxLength: number): Promise<{ text: string; isCut: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > maxLength) return { text: text.slice(0, maxLength), isCut: true };
  }
  return { text: text + decoder.decode(), isCut: false };
}

/** The last lines of a text. However long it is, and however long its lines are, only those are kept. */
export async function readLastLines(response: Response, maxLines: number): Promise<string[]> {
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let open = '';
  for await (const part of response.body ?? []) {
    const pieces = (open + decoder.decode(part, { stream: true })).split('\n');
    open = (pieces.pop() ?? '').slice(0, MAX_RAW_LINE_LENGTH);
    for (const piece of pieces) lines.push(piece.slice(0, MAX_RAW_LINE_LENGTH));
    if (lines.length > 2 * maxLines) lines = lines.slice(-maxLines);
  }
  open += decoder.decode();
  if (open !== '') lines.push(open);
  return lines.slice(-maxLines);
}
