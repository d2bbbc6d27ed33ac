/** Reads the body of an answer, and keeps no more of it in memory than wanted. */

export class BodyTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`the answer has more than ${maxBytes} bytes`);
  }
}

/** Returns the whole body as one text. */
export async function readWhole(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of bytes) {
    length += part.length;
    if (length > maxBytes) throw new BodyTooLargeError(maxBytes); // leaving the loop cancels the rest of the body
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Yields text as it arrives, in whole characters, because a log may be larger than memory. */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of bytes) yield decoder.decode(part, { stream: true });
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

/** Returns the beginning of a text, and cancels the rest. */
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
