/** Objects in Google Cloud Storage. The SDK is loaded with the first call, because it loads slowly. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Bucket, File } from '@google-cloud/storage';
import { NoAnswerError, ObjectStoreError, isProblem } from './object-store.ts';
import type { ListedObject, ObjectStore, Writing } from './object-store.ts';
import { exactly, inPieces } from './pieces.ts';
import { limitOf, withRetries } from './retry.ts';
import { explainStoreError } from './store-errors.ts';

/** `timeoutMs` limits every call. The default is that of limitOf. */
export type GcsOptions = { bucket: string; credentialsFile: string; timeoutMs?: number };

/** Larger objects use a resumable upload, which continues after an interruption. */
const AT_ONCE_BYTES = 8 * 1024 * 1024;
const REMOVE_IN_PARALLEL = 16;
/** A long log is uploaded in one call. */
const LONGEST_MS = 15 * 60_000;
const OWNER = 'svc-log';
const PERMISSIONS =
  'storage.objects.list, storage.objects.get, storage.objects.create and storage.objects.delete (the role Storage Object User)';

export function createGcsStore(options: GcsOptions): ObjectStore {
  const { bucket: name, credentialsFile } = options;
  let opened: Promise<Bucket> | undefined;

  function open(): Promise<Bucket> {
    opened ??= import('@google-cloud/storage').then(({ Storage }) =>
      new Storage({
        ...(credentialsFile !== '' && { keyFilename: credentialsFile }),
        retryOptions: { autoRetry: false }, // withRetries repeats calls, also if the body of an answer breaks off
      }).bucket(name),
    );
    return opened;
  }

  async function call<T>(
    work: (bucket: Bucket) => Promise<T>,
    limits: { bytes?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    const { bytes, signal } = limits;
    const ms = options.timeoutMs ?? Math.min(limitOf(bytes), LONGEST_MS);
    return withRetries(async () => {
      const bucket = await open(); // loading the SDK does not count against the time limit
      try {
        return await within({ ms, signal, silence: () => noAnswer(ms) }, work(bucket));
      } catch (error) {
        throw explainStoreError(error, { kind: 'Google Cloud Storage', bucket: name, permissions: PERMISSIONS });
      }
    }, signal);
  }

  const noAnswer = (ms: number): Error => new NoAnswerError(`the Google Cloud Storage bucket ${name}`, ms);

  async function* list(prefix: string): AsyncGenerator<ListedObject[]> {
    let pageToken: string | undefined;
    do {
      const token = pageToken;
      const [files, next] = await call((bucket) =>
        bucket.getFiles({
          prefix,
          autoPaginate: false,
          maxResults: 1_000,
          ...(token !== undefined && { pageToken: token }),
        }),
      );
      yield files.map((file) => ({
        key: file.name,
        writtenAt: Date.parse(String(file.metadata.updated ?? file.metadata.timeCreated ?? '')) || Date.now(),
      }));
      pageToken = (next as { pageToken?: string } | null | undefined)?.pageToken;
    } while (pageToken !== undefined);
  }

  return {
    list,
    write: (writing) =>
      call((bucket) => writeTo(bucket.file(writing.key), writing), {
        bytes: writing.size,
        signal: writing.signal,
      }),
    read: (key, { from, to }, { answerWithinMs } = {}) =>
      call(
        async (bucket) => {
          const response = await within(
            { ms: answerWithinMs ?? Infinity, silence: () => noAnswer(answerWithinMs ?? 0) },
            askForRange(bucket, key, `bytes=${from}-${to - 1}`, options.timeoutMs ?? limitOf(to - from)),
          );
          const bytes = await bytesOf(response);
          if (bytes.length !== to - from)
            throw new Error(`an answer of ${bytes.length} bytes where ${to - from} were asked for`);
          return bytes;
        },
        { bytes: to - from },
      ).catch(asMissing),
    async head(key) {
      try {
        return await call(async (bucket) => {
          const [{ size, generation, metadata }] = await bucket.file(key).getMetadata();
          const owner = metadata?.[OWNER];
          return { size: Number(size), tag: String(generation), owner: typeof owner === 'string' ? owner : undefined };
        }).catch(asMissing);
      } catch (error) {
        if (isProblem(error, 'missing')) return undefined;
        throw error;
      }
    },
    async remove(keys) {
      for (let at = 0; at < keys.length; at += REMOVE_IN_PARALLEL) {
        await Promise.all(
          keys.slice(at, at + REMOVE_IN_PARALLEL).map((key) =>
            call((bucket) => bucket.file(key).delete()).catch((error: unknown) => {
              if (!is404(error)) throw error;
            }),
          ),
        );
      }
    },
    close() {},
  };
}

async function writeTo(file: File, writing: Writing): Promise<{ tag: string }> {
  // Only whole pieces are sent. The content is read from the same store, and no request should stay open while it waits
  // for another one.
  const pieces = inPieces(exactly(writing.blocks(), writing.size), AT_ONCE_BYTES);
  const whole: Buffer[] = [];
  if (writing.size <= AT_ONCE_BYTES) for await (const piece of pieces) whole.push(piece);
  const content = writing.size > AT_ONCE_BYTES ? pieces : whole;
  const target = file.createWriteStream({
    resumable: writing.size > AT_ONCE_BYTES,
    ...(writing.size > AT_ONCE_BYTES && { chunkSize: AT_ONCE_BYTES }),
    validation: false, // TLS protects the content; a checksum would need another request
    contentType: 'application/x-ndjson',
    metadata: { metadata: { [OWNER]: writing.owner } },
    preconditionOpts: preconditionsOf(writing),
  });
  await pipeline(
    Readable.from(content, { highWaterMark: 1 }),
    target,
    writing.signal ? { signal: writing.signal } : {},
  );
  return { tag: String(file.metadata.generation ?? '') };
}

const preconditionsOf = ({ replaces }: Writing) =>
  replaces === undefined ? {} : { ifGenerationMatch: replaces === null ? 0 : replaces };

const is404 = (error: unknown): boolean =>
  Number(((error as Error).cause as { code?: unknown; status?: unknown } | undefined)?.code) === 404;

/** A missing object and a missing bucket give the same answer. The start has already checked that the bucket exists. */
function asMissing(error: unknown): never {
  if (is404(error) && !/bucket/i.test(String(((error as Error).cause as Error).message)))
    throw new ObjectStoreError(
      'missing',
      'the Google Cloud Storage bucket of task logs does not have the object',
      error,
    );
  throw error as Error;
}

/** Avoids the SDK's own download. It adds many listeners to a stream, and Node warns of a leak at every call. */
async function askForRange(bucket: Bucket, key: string, range: string, timeoutMs: number): Promise<Response> {
  const { apiEndpoint, authClient } = bucket.storage;
  const url = `${apiEndpoint}/storage/v1/b/${encodeURIComponent(bucket.name)}/o/${encodeURIComponent(key)}?alt=media`;
  const headers = new Headers(process.env['STORAGE_EMULATOR_HOST'] ? {} : await authClient.getRequestHeaders(url));
  headers.set('range', range);
  return fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
}

async function bytesOf(response: Response): Promise<Buffer> {
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw Object.assign(new Error(bytes.toString('utf8', 0, 300)), { code: response.status });
  return bytes;
}

/** The SDK cannot cancel a call. The precondition of the object refuses a write that arrives too late. */
async function within<T>(
  { ms, signal, silence }: { ms: number; signal?: AbortSignal | undefined; silence: () => Error },
  work: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    if (ms !== Infinity) timer = setTimeout(() => reject(silence()), ms);
    stop = () => reject(new Error('given up'));
    signal?.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    if (stop) signal?.removeEventListener('abort', stop);
  }
}
