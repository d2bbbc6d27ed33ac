/**
 * Task logs. The default is text; the Accept header selects Airflow's structured JSON or NDJSON. A request returns the
 * whole log, its last lines, lines with a text, or the log as it grows. Everything is read block by block at the speed
 * of the client. A long log therefore needs no more memory than a short one, and a slow reader delays no other request.
 */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { isOutage } from '../../db/outage.ts';
import { findTry } from '../../db/task-instances/tries.ts';
import type { TryRow } from '../../db/task-instances/tries.ts';
import { followLog } from '../../logs/follow.ts';
import { linesOf } from '../../logs/lines.ts';
import type { Line } from '../../logs/lines.ts';
import type { LogKey } from '../../logs/log-key.ts';
import { searchLog } from '../../logs/search.ts';
import { LogMissingError, LogStorageError } from '../../logs/store.ts';
import type { LogStore, LogStoreOutage } from '../../logs/store.ts';
import { endOfLastLine, startOfLastLines } from '../../logs/tail.ts';
import { preferredType } from '../../http/accept.ts';
import { databaseOf, presentedToken, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { Pace } from '../../http/admission/open-streams.ts';
import { LOG_FORMATS, asJson, asNdjson, asText, placeholder, searchBody } from './formats.ts';
import type { LogFormat } from './formats.ts';
import { offsetOf, tokenAt } from './continuation-token.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { sendRaw } from '../../http/send-raw.ts';

const TAGS = ['Task logs'];
const MAX_INT = 2_147_483_647;
/** Interval for checking whether the followed attempt has ended. */
const ASK_EVERY_MS = 1_000;

const Params = Type.Object({
  dag_id: Type.String(),
  dag_run_id: Type.String(),
  task_id: Type.String(),
  try_number: Type.Integer({
    minimum: 0,
    maximum: MAX_INT,
    description: 'At least 1. As NDJSON, 0 says why a task that never ran has no log',
  }),
});

const MapIndex = Type.Integer({ minimum: -1, maximum: MAX_INT, default: -1, description: 'Of a mapped task' });

const Query = Type.Object({
  map_index: MapIndex,
  full_content: Type.Boolean({ default: false, description: 'Accepted for Airflow’s sake: the log is always whole' }),
  token: Type.Optional(Type.String({ maxLength: 100, description: 'Go on where an earlier answer ended' })),
  tail_lines: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: 'Only so many of the last lines' }),
  ),
  search: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'Only lines with this text, in any letter case, with their numbers' }),
  ),
  max_matches: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 100,
    description: 'With `search`: how many at most',
  }),
  follow: Type.Boolean({
    default: false,
    description: 'Stay and send what is written until the attempt is over; as text or NDJSON',
  }),
});

const LogContent = Type.Object(
  {
    content: Type.Array(
      Type.Object(
        { event: Type.String(), timestamp: Type.Optional(Nullable(DateTime)) },
        { title: 'StructuredLogMessage', additionalProperties: true },
      ),
    ),
    continuation_token: Nullable(
      Type.String({ description: 'For `token`, to read on; null when the attempt is over and this was all' }),
    ),
    search_complete: Type.Optional(Type.Boolean({ description: 'Of a search: whether these are all matches' })),
  },
  { title: 'TaskInstancesLogResponse' },
);

export function registerLogs(app: App, services: Services): void {
  const closing = new AbortController();
  // Ends followers. They would otherwise keep their connections and the process alive until their attempts end.
  app.addHook('preClose', async () => closing.abort());

  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskInstances/:task_id/logs/:try_number',
    {
      config: { grows: 'log', access: 'read:task_instance' },
      schema: {
        operationId: 'get_log',
        tags: TAGS,
        summary: 'Get the log of one try of a task; empty when it has none yet',
        params: Params,
        querystring: Query,
        response: {
          200: {
            description:
              'The log. The header `Airflow-Continuation-Token` is there while the attempt may still write; after a search, `X-Log-Search-Complete` says whether all matches are in',
            content: {
              'text/plain': { schema: Type.String() },
              'application/json': { schema: LogContent },
              'application/x-ndjson': { schema: Type.String({ description: 'One record per line' }) },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const format = preferredType(request.headers.accept, LOG_FORMATS);
      refuseOddRequests(request.params, request.query, format);
      const logKey = logKeyOf(request);
      const row = await findTry(databaseOf(request, services.db), logKey);
      if (!row) throw noSuchTry(logKey);
      reply.type(format === 'application/x-ndjson' ? format : `${format}; charset=utf-8`).header('vary', 'accept');
      // A stream for HEAD would be read to its end for nothing.
      const answer =
        request.method === 'HEAD'
          ? ''
          : await logBody({ request, reply, services, logKey, row, format, closing: closing.signal });
      return sendRaw(reply, answer);
    },
  );

  registerExternalUrl(app, services);
}

function registerExternalUrl(app: App, { db, logs }: Services): void {
  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskInstances/:task_id/externalLogUrl/:try_number',
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_external_log_url',
        tags: TAGS,
        summary: 'Get the address of the log in another system',
        description: '400 where logs are kept here only; `/ui/config` says so as `show_external_log_redirect`.',
        params: Params,
        querystring: Type.Object({ map_index: MapIndex }),
        response: { 200: Type.Object({ url: Type.String() }, { title: 'ExternalLogUrlResponse' }) },
      },
    },
    async (request) => {
      const logKey = logKeyOf(request);
      if (!(await findTry(databaseOf(request, db), logKey))) throw noSuchTry(logKey);
      if (!logs.external)
        throw new ApiError('unsupported_option', 'task logs are kept here only: get them at …/logs/{try_number}');
      return { url: logs.external.urlOf(logKey) };
    },
  );
}

function logKeyOf(request: FastifyRequest): LogKey {
  const params = request.params as Static<typeof Params>;
  return {
    tenantId: principalOf(request).tenantId,
    dagId: params.dag_id,
    runId: params.dag_run_id,
    taskId: params.task_id,
    mapIndex: (request.query as { map_index: number }).map_index,
    tryNumber: params.try_number,
  };
}

function noSuchTry({ taskId, mapIndex, runId, tryNumber }: LogKey): ApiError {
  const instance = mapIndex === -1 ? `\`${taskId}\`` : `\`${taskId}\` with map_index ${mapIndex}`;
  const text = `TaskInstance not found: there is no try ${tryNumber} of ${instance} in run \`${runId}\``;
  return new ApiError('not_found', text.slice(0, 1_000));
}

type LogQuery = Static<typeof Query>;

function refuseOddRequests({ try_number: tryNumber }: Static<typeof Params>, query: LogQuery, format: LogFormat): void {
  if (tryNumber === 0 && format !== 'application/x-ndjson')
    throw new ApiError('invalid_request', 'try_number must be >= 1, got 0');
  const asked = [query.search, query.tail_lines, query.token].filter((value) => value !== undefined && value !== '');
  if (asked.length > 1)
    throw new ApiError('unsupported_option', 'search, tail_lines and token exclude each other: send one of them');
  if (query.follow && query.search)
    throw new ApiError('unsupported_option', 'follow: a search looks at what is there: leave one of them out');
  if (query.follow && format === 'application/json')
    throw new ApiError(
      'unsupported_option',
      'follow: JSON has one end only: ask for it with Accept: application/x-ndjson or text/plain',
    );
}

type Body = {
  request: FastifyRequest;
  reply: FastifyReply;
  services: Services;
  logKey: LogKey;
  row: TryRow;
  format: LogFormat;
  closing: AbortSignal;
};

async function logBody(input: Body): Promise<string | Readable> {
  const { request, services, logKey, row } = input;
  if (logKey.tryNumber === 0) return placeholder(row.state);
  try {
    return await readLog(input).catch(async (error: unknown) => {
      // The store has just stopped answering, but the lines in the database can still be shown.
      const isAway = error instanceof LogStorageError && (await services.logs.outage?.()) !== undefined;
      if (!isAway || (request.query as LogQuery).search) throw error;
      return readLog(input);
    });
  } catch (error) {
    if (!(error instanceof LogStorageError)) throw error;
    request.log.error({ code: 'SVC5011', err: error }, 'task logs cannot be read');
    if (error instanceof LogMissingError) throw new ApiError('log_missing', `this log is missing: ${error.message}`);
    throw new ApiError(
      'logs_unavailable',
      error.advice ?? 'the store of task logs cannot be read right now: see the log of the server',
    );
  }
}

async function readLog(input: Body): Promise<string | Readable> {
  const { request, reply, services, logKey, row, format } = input;
  const query = request.query as LogQuery;
  const { logs } = services;
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  const size = await logs.size(logKey);
  // While the attempt runs, the last line may be incomplete. The next answer contains it.
  const outage = await logs.outage?.(logKey);
  const readableFrom = Math.min(outage?.readableFrom ?? 0, size);
  const to = row.isOver ? size : await endOfLastLine(logs, logKey, size, readableFrom);
  if (query.search) return await searched({ ...input, text: query.search, to, signal: left.signal });
  const continuationToken = row.isOver ? null : tokenAt(logKey, to);
  if (continuationToken !== null) reply.header('airflow-continuation-token', continuationToken);
  const asked = await startOf({ logs, logKey, query, to, readableFrom });
  const from = Math.max(asked, Math.min(readableFrom, to));
  const notice = outage && query.token === undefined ? outageNotice(outage, readableFrom) : [];
  const shown = inFormat({
    format,
    lines: after(notice, linesOf(logs.read(logKey, { from, to }))),
    last: query.tail_lines === undefined ? undefined : query.tail_lines + notice.length,
    continuationToken,
  });
  // The status reports a store that cannot be read. After the answer has started, it could only break off.
  const parts = [logs.outage ? await begun(shown) : shown];
  if (query.follow && !row.isOver) {
    request.headers['x-no-compression'] = 'follow'; // a compressor would hold lines back
    const signal = AbortSignal.any([left.signal, input.closing]);
    const pace = services.openStreams.open(request, reply);
    const grown = followLog(logs, logKey, { from: to, isOver: overCheck(input, pace), signal, pace });
    parts.push(headersFirst(reply, inFormat({ format, lines: linesOf(grown), continuationToken })));
  }
  return Readable.from(oneAfterTheOther(parts), { objectMode: false });
}

async function searched(input: Body & { text: string; to: number; signal: AbortSignal }): Promise<string> {
  const { request, reply, services, logKey, format, text, to, signal } = input;
  const { max_matches: maxMatches } = request.query as LogQuery;
  const found = await searchLog(services.logs, logKey, { text, maxMatches, to, signal });
  reply.header('x-log-search-complete', String(found.isComplete));
  return searchBody(found, format);
}

async function startOf(input: {
  logs: LogStore;
  logKey: LogKey;
  query: LogQuery;
  to: number;
  readableFrom: number;
}): Promise<number> {
  const { logs, logKey, query, to, readableFrom } = input;
  if (query.token) return offsetOf(logKey, query.token);
  if (query.tail_lines !== undefined)
    return startOfLastLines(logs, logKey, { end: to, count: query.tail_lines, notBefore: readableFrom });
  return 0;
}

/** Tells the reader that the log may be incomplete, and why. */
function outageNotice({ since }: LogStoreOutage, missingBytes: number): Line[] {
  const event =
    missingBytes > 0
      ? `The store of task logs is away: the first ${missingBytes} bytes of this log are there and come back with it. Newer lines are kept in the database, nothing is lost.`
      : 'The store of task logs is away. The lines of this log are kept in the database until it is back, nothing is lost.';
  return [{ text: JSON.stringify({ timestamp: since, level: 'warning', logger: 'svc.logs', event }), cutBytes: 0 }];
}

async function* after(first: Line[], batches: AsyncGenerator<Line[]>): AsyncGenerator<Line[]> {
  if (first.length > 0) yield first;
  yield* batches;
}

async function begun(part: AsyncGenerator<string>): Promise<AsyncGenerator<string>> {
  const first = await part.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* part;
  })();
}

function inFormat(input: {
  format: LogFormat;
  lines: ReturnType<typeof linesOf>;
  last?: number | undefined;
  continuationToken: string | null;
}): AsyncGenerator<string> {
  switch (input.format) {
    case 'text/plain':
      return asText(input.lines, input.last);
    case 'application/x-ndjson':
      return asNdjson(input.lines);
    case 'application/json':
      return asJson(input.lines, input.continuationToken);
  }
}

async function* oneAfterTheOther(parts: readonly AsyncGenerator<string>[]): AsyncGenerator<string> {
  for (const part of parts) yield* part;
}

/**
 * Sends the headers at once. Otherwise they wait for the first byte, and the client does not know that it is connected.
 */
async function* headersFirst(reply: FastifyReply, part: AsyncGenerator<string>): AsyncGenerator<string> {
  reply.raw.flushHeaders();
  yield* part;
}

/** Returns a check that limits how often it asks the database, however fast the log grows. */
function overCheck({ request, services, logKey }: Body, pace: Pace): () => Promise<boolean> {
  const db = databaseOf(request, services.db);
  // In development without authentication, there is no session that could end.
  const { sessionId, isServiceAccount } = principalOf(request);
  const token = sessionId === null && !isServiceAccount ? undefined : presentedToken(request).token;
  let askedAt = -Infinity;
  return async () => {
    if (performance.now() - askedAt < pace.every(ASK_EVERY_MS)) return false;
    askedAt = performance.now();
    try {
      if (token !== undefined && !(await mayStillRead(services, token))) return true;
      return (await findTry(db, logKey))?.isOver ?? true; // the log was removed in the meantime
    } catch (error) {
      if (isOutage(error)) return false; // the attempt continues during an outage, and so does its log
      throw error;
    }
  };
}

/**
 * A caller who logs out or loses the permission sees no more lines. An expired token was valid when the answer started,
 * so it may continue.
 */
async function mayStillRead({ sessions }: Services, token: string): Promise<boolean> {
  const principal = await sessions.authenticate(token);
  if (principal === 'expired' || principal === 'service_token_expired') return true;
  return typeof principal !== 'string' && principal.permissions.has('read:task_instance');
}
