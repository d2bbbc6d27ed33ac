/**
 * Refuses messages whose text is not UTF-8, as the format requires. The decoder would replace invalid bytes by U+FFFD,
 * so that a request or report would silently change.
 */

const REPLACEMENT = '\uFFFD';

/** Returns a decoder that refuses messages with invalid text. */
export function withStrictText<Message>(decode: (bytes: Buffer) => Message): (bytes: Buffer) => Message {
  return (bytes) => {
    const message = decode(bytes);
    if (hasBrokenText(message, bytes)) throw new Error('a text of the message is not valid UTF-8');
    return message;
  };
}

/** U+FFFD may have been sent as such. The message then contains the text unchanged. */
function hasBrokenText(value: unknown, bytes: Buffer): boolean {
  if (typeof value === 'string') return value.includes(REPLACEMENT) && !bytes.includes(value);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key.includes(REPLACEMENT) && !bytes.includes(key)) || hasBrokenText(inner, bytes),
  );
}
