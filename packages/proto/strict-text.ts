/**
 * Text in a message must be UTF-8, as the format says. The decoder replaces what is not by U+FFFD, and what was asked for, or
 * reported, would silently be something else.
 */

const REPLACEMENT = '\uFFFD';

/** The same decoder, refusing messages whose text is broken. */
export function withStrictText<Message>(decode: (bytes: Buffer) => Message): (bytes: Buffer) => Message {
  return (bytes) => {
    const message = decode(bytes);
    if (hasBrokenText(message, bytes)) throw new Error('a text of the message is not valid UTF-8');
    return message;
  };
}

/** U+FFFD may have been sent as such: then its text stands in the message as it is. */
function hasBrokenText(value: unknown, bytes: Buffer): boolean {
  if (typeof value === 'string') return value.includes(REPLACEMENT) && !bytes.includes(value);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key.includes(REPLACEMENT) && !bytes.includes(key)) || hasBrokenText(inner, bytes),
  );
}
