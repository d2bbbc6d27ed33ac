/** Cuts a stream of bytes into lines. A line above the limit is an error, because its sender cannot be trusted. */

/** The longest line that the other end sends. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

export type LineReader = { push(chunk: Buffer): void };

export function createLineReader(input: {
  onLine: (line: string) => void;
  onTooLong: () => void;
  maxBytes?: number;
}): LineReader {
  const { onLine, onTooLong, maxBytes = MAX_LINE_BYTES } = input;
  let parts: Buffer[] = [];
  let length = 0;

  return {
    push(chunk) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        const last = chunk.subarray(from, end);
        from = end + 1;
        const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
        parts = [];
        length = 0;
        onLine(line.toString('utf8'));
      }
      if (from === chunk.length) return;
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length <= maxBytes) return;
      parts = [];
      length = 0;
      onTooLong();
    },
  };
}
