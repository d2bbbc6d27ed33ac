/**
 * Archives in the format of `tar`, written and read as streams: what a backup holds can be looked at with the tools every
 * machine has. The format is tar-stream's concern; here is what a backup may be: files and directories only, and whole.
 */
import { once } from 'node:events';
import { extract as createExtract, pack as createPack } from 'tar-stream';
import type { Extract, Header, Pack } from 'tar-stream';

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

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

/** The content of an entry is read, or passed over, before the next entry is given. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const archive = createExtract();
  void feed(archive, source).catch((error: unknown) => archive.destroy(asError(error)));
  try {
    for await (const entry of archive) {
      yield checked(entry);
      entry.resume(); // what the caller left
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
  // An archive ends with empty blocks; one that was cut between two entries does not.
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
  if (message.startsWith('Invalid tar header')) return new TarError('a header in it is damaged', { cause: error });
  if (message === 'Header exceeds max size') return new TarError('a name in it is too long', { cause: error });
  if (message === 'Unexpected end of data') return new TarError('it ends in the middle', { cause: error });
  return error;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
