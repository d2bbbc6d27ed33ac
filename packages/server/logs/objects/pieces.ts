/** Turns blocks of any size into pieces of one size; the last piece may be smaller. It keeps one piece in memory. */
export async function* inPieces(blocks: AsyncIterable<Buffer>, pieceBytes: number): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const block of blocks) {
    let rest = block;
    while (bytes + rest.length >= pieceBytes) {
      const taken = rest.subarray(0, pieceBytes - bytes);
      yield Buffer.concat([...waiting, taken], pieceBytes);
      rest = rest.subarray(taken.length);
      waiting = [];
      bytes = 0;
    }
    if (rest.length > 0) waiting.push(rest);
    bytes += rest.length;
  }
  if (bytes > 0) yield Buffer.concat(waiting, bytes);
}

/** Throws if the content does not have its expected size, so that no truncated object counts as complete. */
export async function* exactly(blocks: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const block of blocks) {
    bytes += block.length;
    yield block;
  }
  if (bytes !== size) throw new Error(`unreachable: ${bytes} bytes of an object that has ${size}`);
}
