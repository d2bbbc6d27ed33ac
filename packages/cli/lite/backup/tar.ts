/**
 * Archives in the format of `tar`, written and read as streams, so that common tools can inspect a backup. tar-stream
 * implements the format. This file decides what a backup may contain: only files and directories, and only complete
 * archives.
 */
import { once } from 'node:events';
import { extract as createExtract, pack as createPack } from 'tar-stream';
import type { Extract, Header, Pack } from 'tar-stream';

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

export type TarFile = {
  readonly kind: 'file';
  readonly path: string;
  readonly size: number;
  /** Contains exactly `size` bytes. */
  readonly content: AsyncIterable<Buffer> | Iterable<Buffer>;
};

export type TarEntry = TarFile | { readonly kind: 'directory'; readonly path: string };

/** The archive is incomplete, or contains entries that we never write. */
export class TarError extends Error {}

const BLOCK = 512;

export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  const archive = createPack();
  const filling = fill(archive, entries).catch((error: unknown) => archive.destroy(asError(error)));
  yield* archive as AsyncIterable<Buffer>;
  await filling;
}

async function fill(archive: Pack, entries: AsyncIterable<TarEntry>): Promise<void> {
  for await (const entry of entries) {
    if (entry.kind === 'directory') await put(archive, { name: entry.path, type: 'directory', mode: 0o700 }, []);
    else await put(archive, { name: entry.path, size: entry.size, mode: 0o600 }, entry.content);
  }
  archive.finalize();
}

async function put(
  archive: Pack,
  header: Pick<Header, 'name' | 'mode'> & Partial<Header>,
  content: TarFile['content'],
): Promise<void> {
  const written = Promise.withResolvers<void>();
  const sink = archive.entry(header, (error) => (error ? written.reject(error) : written.resolve()));
  for await (const chunk of content) {
    if (chunk.length > 0 && !sink.write(chunk)) await Promise.race([once(sink, 'drain'), written.promise]);
  }
  if (header.type !== 'directory') sink.end(null);
  await written.promise;
}

/** Each entry is read or skipped before the next one is yielded. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const archive = createExtract();
  void feed(archive, source).catch((error: unknown) => archive.destroy(asError(error)));
  try {
    for await (const entry of archive) {
      yield checked(entry);
      entry.resume(); // skips what the caller did not read
    }
  } catch (error) {
    throw explained(error);
  } finally {
    archive.destroy();
  }
}

async function feed(archive: Extract, source: AsyncIterable<Buffer>): Promise<void> {
  let total = 0;
  let lastBlock: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    total += chunk.length;
    lastBlock = Buffer.concat([lastBlock, chunk.subarray(-BLOCK)]).subarray(-BLOCK);
    if (!archive.write(chunk)) await once(archive, 'drain');
  }
  // An archive ends with empty blocks. One that was cut between two entries does not.
  const isWhole = total > 0 && total % BLOCK === 0 && lastBlock.every((byte) => byte === 0);
  if (!isWhole) throw new TarError('it ends in the middle');
  archive.end(null);
}

function checked(entry: Entry): TarEntry {
  const { name, type, size } = entry.header;
  if (type === 'directory') return { kind: 'directory', path: name.replace(/\/$/, '') };
  if (type === 'file') return { kind: 'file', path: name, size, content: entry as AsyncIterable<Buffer> };
  throw new TarError(`${name} in it is neither a file nor a directory`);
}

function explained(error: unknown): unknown {
  const message = error instanceof Error ? error.message : '';
  if (/^Invalid (tar )?header|^Unknown type/.test(message))
    return new TarError('a header in it is damaged', { cause: error });
  if (message === 'Header exceeds max size') return new TarError('a name in it is too long', { cause: error });
  if (message === 'Unexpected end of data') return new TarError('it ends in the middle', { cause: error });
  return error;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
