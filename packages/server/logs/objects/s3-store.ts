/** Objects in S3 or in a compatible store. The SDK is loaded with the first call, because it takes time and memory. */
import type * as Sdk from '@aws-sdk/client-s3';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { NoAnswerError, isProblem } from './object-store.ts';
import type { ListedObject, ObjectStore, Writing } from './object-store.ts';
import { limitOf, withRetries } from './retry.ts';
import { explainStoreError } from './store-errors.ts';
import { exactly, inPieces } from './pieces.ts';

export type S3Options = {
  bucket: string;
  region: string;
  endpoint: string;
  forcePathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
  /** Limits every call. The default is that of limitOf. */
  timeoutMs?: number;
};

type Limits = { signal?: AbortSignal | undefined; bytes?: number; answerWithinMs?: number | undefined };

/** S3 accepts at most 10,000 pieces of at least 5 MiB. */
const PIECE_BYTES = 8 * 1024 * 1024;
const MAX_PIECES = 9_000;
const REMOVE_AT_ONCE = 1_000;
const OWNER = 'svc-log';
const PERMISSIONS = 's3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload';

export function createS3Store(options: S3Options): ObjectStore {
  const { bucket } = options;
  const Bucket = bucket;
  let opened: Promise<{ sdk: typeof Sdk; client: S3Client }> | undefined;
  /** False for a store without conditional writes. The leases of writers must then be enough. */
  let knowsConditions = true;

  function open(): Promise<{ sdk: typeof Sdk; client: S3Client }> {
    opened ??= import('@aws-sdk/client-s3').then((sdk) => ({ sdk, client: new sdk.S3Client(clientConfig(options)) }));
    return opened;
  }

  async function call<T>(
    work: (input: {
      sdk: typeof Sdk;
      client: S3Client;
      abortSignal: AbortSignal;
      /** Reports that the answer has started. */
      answered: () => void;
    }) => Promise<T>,
    { signal, bytes = 0, answerWithinMs }: Limits = {},
  ): Promise<T> {
    const timeoutMs = options.timeoutMs ?? limitOf(bytes);
    return withRetries(async () => {
      const opened = await open(); // loading the SDK does not count against the time limit
      const limit = AbortSignal.timeout(timeoutMs);
      const silent = new AbortController();
      const timer = answerWithinMs === undefined ? undefined : setTimeout(() => silent.abort(), answerWithinMs);
      const answered = (): void => clearTimeout(timer);
      const abortSignal = AbortSignal.any([limit, silent.signal, ...(signal ? [signal] : [])]);
      try {
        return await work({ ...opened, abortSignal, answered });
      } catch (error) {
        const waited = silent.signal.aborted ? answerWithinMs : limit.aborted ? timeoutMs : undefined;
        if (waited !== undefined) throw new NoAnswerError(`the S3 bucket ${bucket}`, waited, error);
        throw explainStoreError(error, { kind: 'S3', bucket, permissions: PERMISSIONS });
      } finally {
        answered();
      }
    }, signal);
  }

  const conditions = ({ replaces }: Writing) => {
    if (replaces === undefined || !knowsConditions) return {};
    return replaces === null ? { IfNoneMatch: '*' } : { IfMatch: replaces };
  };

  async function putWhole(writing: Writing): Promise<{ tag: string }> {
    const blocks: Buffer[] = [];
    for await (const block of exactly(writing.blocks(), writing.size)) blocks.push(block);
    const Body = Buffer.concat(blocks);
    const { key: Key, owner } = writing;
    return call(
      async ({ sdk, client, abortSignal }) => {
        const command = new sdk.PutObjectCommand({
          Bucket,
          Key,
          Body,
          ContentType: 'application/x-ndjson',
          Metadata: { [OWNER]: owner },
          ...conditions(writing),
        });
        const { ETag = '' } = await client.send(command, { abortSignal });
        return { tag: ETag };
      },
      { signal: writing.signal, bytes: writing.size },
    );
  }

  async function putInPieces(writing: Writing): Promise<{ tag: string }> {
    const { key: Key, owner, signal, size } = writing;
    const { UploadId } = await call(
      ({ sdk, client, abortSignal }) =>
        client.send(
          new sdk.CreateMultipartUploadCommand({
            Bucket,
            Key,
            ContentType: 'application/x-ndjson',
            Metadata: { [OWNER]: owner },
          }),
          { abortSignal },
        ),
      { signal },
    );
    try {
      const Parts: { PartNumber: number; ETag: string }[] = [];
      for await (const Body of inPieces(
        exactly(writing.blocks(), size),
        Math.max(PIECE_BYTES, Math.ceil(size / MAX_PIECES)),
      )) {
        const PartNumber = Parts.length + 1;
        const { ETag = '' } = await call(
          ({ sdk, client, abortSignal }) =>
            client.send(new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }), { abortSignal }),
          { signal, bytes: Body.length },
        );
        Parts.push({ PartNumber, ETag });
      }
      return await call(
        async ({ sdk, client, abortSignal }) => {
          const command = new sdk.CompleteMultipartUploadCommand({
            Bucket,
            Key,
            UploadId,
            MultipartUpload: { Parts },
            ...conditions(writing),
          });
          const { ETag = '' } = await client.send(command, { abortSignal });
          return { tag: ETag };
        },
        { signal, bytes: size },
      ); // some stores copy the whole object within this call
    } catch (error) {
      // Aborts the upload. Its pieces would otherwise cost money until an operator finds them.
      await call(({ sdk, client, abortSignal }) =>
        client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal }),
      ).catch(() => {});
      throw error;
    }
  }

  async function write(writing: Writing): Promise<{ tag: string }> {
    const put = writing.size <= PIECE_BYTES ? putWhole : putInPieces;
    try {
      return await put(writing);
    } catch (error) {
      const { name } = ((error as Error).cause ?? {}) as { name?: string };
      if (name !== 'NotImplemented' || writing.replaces === undefined || !knowsConditions) throw error;
      knowsConditions = false;
      return put(writing);
    }
  }

  async function* list(prefix: string): AsyncGenerator<ListedObject[]> {
    let ContinuationToken: string | undefined;
    do {
      const token = ContinuationToken;
      const page = await call(({ sdk, client, abortSignal }) =>
        client.send(
          new sdk.ListObjectsV2Command({
            Bucket,
            Prefix: prefix,
            ...(token !== undefined && { ContinuationToken: token }),
          }),
          { abortSignal },
        ),
      );
      yield (page.Contents ?? []).flatMap(({ Key, LastModified }) =>
        Key === undefined ? [] : [{ key: Key, writtenAt: LastModified?.getTime() ?? Date.now() }],
      );
      ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (ContinuationToken !== undefined);
  }

  return {
    write,
    list,
    read: (key, { from, to }, { answerWithinMs } = {}) =>
      call(
        async ({ sdk, client, abortSignal, answered }) => {
          const command = new sdk.GetObjectCommand({ Bucket, Key: key, Range: `bytes=${from}-${to - 1}` });
          const { Body } = await client.send(command, { abortSignal });
          answered();
          const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
          if (bytes.length !== to - from)
            throw new Error(`an answer of ${bytes.length} bytes where ${to - from} were asked for`);
          return bytes;
        },
        { bytes: to - from, answerWithinMs },
      ),
    async head(key) {
      try {
        return await call(async ({ sdk, client, abortSignal }) => {
          const {
            ContentLength = 0,
            ETag = '',
            Metadata,
          } = await client.send(new sdk.HeadObjectCommand({ Bucket, Key: key }), { abortSignal });
          return { size: ContentLength, tag: ETag, owner: Metadata?.[OWNER] };
        });
      } catch (error) {
        if (isProblem(error, 'missing')) return undefined;
        throw error;
      }
    },
    async remove(keys) {
      for (let at = 0; at < keys.length; at += REMOVE_AT_ONCE) {
        const Objects = keys.slice(at, at + REMOVE_AT_ONCE).map((Key) => ({ Key }));
        await call(async ({ sdk, client, abortSignal }) => {
          const command = new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
          const { Errors = [] } = await client.send(command, { abortSignal });
          const first = Errors.find(({ Code }) => Code !== 'NoSuchKey');
          if (first)
            throw Object.assign(new Error(first.Message ?? ''), {
              name: first.Code ?? 'Error',
              status: first.Code === 'AccessDenied' ? 403 : 500,
            });
        });
      }
    },
    close() {
      void opened?.then(({ client }) => client.destroy());
    },
  };
}

function clientConfig(options: S3Options): S3ClientConfig {
  const { region, endpoint, forcePathStyle, accessKeyId, secretAccessKey } = options;
  return {
    // Compatible stores seldom use the region, but the signature needs one.
    ...(region !== '' ? { region } : endpoint !== '' && { region: 'us-east-1' }),
    ...(endpoint !== '' && {
      endpoint,
      // Checksums in trailers are new, and some compatible stores do not understand them.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
    forcePathStyle,
    ...(accessKeyId !== '' && { credentials: { accessKeyId, secretAccessKey } }),
    maxAttempts: 1, // withRetries repeats calls, also if the body of an answer breaks off
  };
}
