/**
 * Archives in the format of `tar`, written and read as streams: what a backup holds can be looked at with the tools every
 * machine has. Files and directories only; long names and sizes travel in PAX records.
 */

export type TarFile = {
  readonly kind: 'file';
  readonly path: string;
  readonly size: number;
  /** Exactly `size` bytes. */
  readonly content: AsyncIterable<Buffer> | Iterable<Buffer>;
};

export type TarEntry = TarFile | { readonly kind: 'directory'; readonly path: string };

/** Not a whole archive, or one with things in it that we never write. */
export class TarError extends Error {}

const BLOCK = 512;
const NAME_BYTES = 100;
/** Eleven octal digits. */
const LARGEST_SIZE = 8 ** 11 - 1;
/** A record is a name or a size: one that is larger is no record of ours. */
const LARGEST_RECORD = 64 * 1024;
const TYPES = { file: '0', directory: '5', extended: 'x' } as const;

export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    const size = entry.kind === 'file' ? entry.size : 0;
    const records = {
      ...((Buffer.byteLength(entry.path) > NAME_BYTES || !/^[\x20-\x7e]*$/.test(entry.path)) && { path: entry.path }),
      ...(size > LARGEST_SIZE && { size: String(size) }),
    };
    if (Object.keys(records).length > 0) {
      const body = Buffer.from(Object.entries(records).map(paxRecord).join(''));
      yield header({ path: 'pax', size: body.length, type: TYPES.extended });
      yield* padded([body], body.length);
    }
    yield header({ path: entry.path, size: Math.min(size, LARGEST_SIZE), type: TYPES[entry.kind] });
    if (entry.kind === 'file') yield* padded(entry.content, size);
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** `<length of all of it> <name>=<value>\n`, where the length counts its own digits. */
function paxRecord([name, value]: readonly [string, string]): string {
  const rest = ` ${name}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const length = [1, 2, 3, 4, 5].map((digits) => bytes + digits).find((all) => String(all).length === all - bytes) ?? 0;
  return `${length}${rest}`;
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');

function header({ path, size, type }: { path: string; size: number; type: string }): Buffer {
  const block = Buffer.alloc(BLOCK);
  // A name that does not fit is cut here and whole in the record before; a reader that knows no records sees at least this.
  Buffer.from(path).subarray(0, NAME_BYTES).copy(block, 0);
  block.write(octal(type === TYPES.directory ? 0o700 : 0o600, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(Math.floor(Date.now() / 1_000), 11), 136);
  block.write(type, 156);
  block.write('ustar\x0000', 257, 'latin1');
  block.write(`${octal(checksumOf(block), 6)}\0 `, 148, 'latin1');
  return block;
}

/** The sum of all bytes, with blanks where the sum itself stands. */
function checksumOf(block: Buffer): number {
  let sum = 0;
  for (let index = 0; index < BLOCK; index += 1) sum += index >= 148 && index < 156 ? 0x20 : (block[index] ?? 0);
  return sum;
}

async function* padded(content: AsyncIterable<Buffer> | Iterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  yield* content;
  if (size % BLOCK !== 0) yield Buffer.alloc(BLOCK - (size % BLOCK));
}

/** The content of an entry is read, or passed over, before the next entry is given. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const bytes = new ByteReader(source);
  let records: Record<string, string> = {};
  for (;;) {
    const block = await bytes.take(BLOCK);
    if (block.every((byte) => byte === 0)) return;
    const text = (start: number, end: number): string =>
      block.subarray(start, end).toString('utf8').replace(/\0.*$/s, '');
    if (Number.parseInt(text(148, 156), 8) !== checksumOf(block)) throw new TarError('a header in it is damaged');
    const type = text(156, 157);
    const size = Number(records['size'] ?? Number.parseInt(text(124, 136), 8));
    if (!Number.isSafeInteger(size) || size < 0) throw new TarError('a size in it cannot be read');
    if (type === TYPES.extended) {
      if (size > LARGEST_RECORD) throw new TarError('a name in it is too long');
      records = parsePax(await bytes.take(size));
      await bytes.skip(paddingOf(size));
      continue;
    }
    const path = records['path'] ?? text(0, NAME_BYTES);
    records = {};
    if (type === TYPES.directory) {
      yield { kind: 'directory', path };
    } else if (type === TYPES.file) {
      const content = bytes.stream(size);
      yield { kind: 'file', path, size, content };
      for await (const _ of content); // what the caller left
      await bytes.skip(paddingOf(size));
    } else {
      throw new TarError(`${path} in it is neither a file nor a directory`);
    }
  }
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function parsePax(body: Buffer): Record<string, string> {
  const records: Record<string, string> = {};
  for (let at = 0; at < body.length;) {
    const blank = body.indexOf(' ', at);
    const length = Number(body.subarray(at, blank).toString());
    if (blank < 0 || !(length > blank - at) || at + length > body.length) throw new TarError('a name in it is damaged');
    const record = body.subarray(blank + 1, at + length - 1).toString('utf8');
    const equals = record.indexOf('=');
    records[record.slice(0, equals)] = record.slice(equals + 1);
    at += length;
  }
  return records;
}

/** Cuts a stream of chunks into pieces of the wanted length. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async *stream(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0;) {
      if (this.#rest.length === 0) await this.#more();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async take(size: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.stream(size)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async skip(size: number): Promise<void> {
    for await (const _ of this.stream(size));
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#source.next();
    if (done === true) throw new TarError('it ends in the middle');
    this.#rest = value;
  }
}
