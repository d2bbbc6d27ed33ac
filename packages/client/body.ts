/** Reading the body of an answer without ever holding more of it than is wanted. */

export class BodyTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`the answer has more than ${maxBytes} bytes`);
  }
}

/** The whole body as one text. */
export async function readWhole(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of bytes) {
    length += part.length;
    if (length > maxBytes) throw new BodyTooLargeError(maxBytes); // leaving the loop cancels the rest
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Text as it arrives, whole characters only: a log may be larger than memory. */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of bytes) yield decoder.decode(part, { stream: true });
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

/** The beginning of a text; the rest is not even received. */
export async function readBeginning(
  texts: AsyncIterable<string>,
  maxLength: number,
): Promise<{ text: string; isCut: boolean }> {
  let text = '';
  for await (const part of texts) {
    text += part;
    if (text.length > maxLength) return { text: text.slice(0, maxLength), isCut: true };
  }
  return { text, isCut: false };
}
