/**
 * Splits bytes into lines, in batches of one block, because an `await` per line would cost more than the line. A line
 * above the limit is cut, so that a single line cannot fill the memory.
 */
export type Line = {
  /** The line without its line break. */
  text: string;
  /** Number of bytes that were cut off at its end. */
  cutBytes: number;
};

/** One line is read in one turn of the event loop, so its length is limited. */
export const MAX_LINE_BYTES = 512 * 1024;
const NEWLINE = 0x0a;

export async function* linesOf(
  blocks: AsyncIterable<Buffer>,
  { maxBytes = MAX_LINE_BYTES }: { maxBytes?: number } = {},
): AsyncGenerator<Line[]> {
  const open = new OpenLine(maxBytes);
  for await (const block of blocks) {
    const first = block.indexOf(NEWLINE);
    if (first === -1) {
      open.add(block);
      continue;
    }
    const last = block.lastIndexOf(NEWLINE);
    open.add(block.subarray(0, first));
    const lines = [open.take()];
    if (last > first) {
      const texts = block.toString('utf8', first + 1, last).split('\n');
      for (const text of texts) lines.push(text.length > maxBytes ? cut(text, maxBytes) : { text, cutBytes: 0 });
    }
    open.add(block.subarray(last + 1));
    yield lines;
  }
  if (!open.isEmpty()) yield [open.take()];
}

function cut(text: string, maxLength: number): Line {
  const kept = text.slice(0, maxLength).toWellFormed();
  return { text: kept, cutBytes: Buffer.byteLength(text.slice(maxLength)) };
}

/** The line whose end has not been read yet. */
class OpenLine {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #cutBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Buffer): void {
    const kept = part.subarray(0, this.#maxBytes - this.#bytes);
    if (kept.length > 0) this.#parts.push(kept);
    this.#bytes += kept.length;
    this.#cutBytes += part.length - kept.length;
  }

  isEmpty(): boolean {
    return this.#bytes === 0;
  }

  take(): Line {
    const line = { text: Buffer.concat(this.#parts).toString('utf8'), cutBytes: this.#cutBytes };
    this.#parts = [];
    this.#bytes = 0;
    this.#cutBytes = 0;
    return line;
  }
}
