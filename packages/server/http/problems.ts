/** Turns every error into a problem body. No detail of an unexpected error (SQL, stack, paths) leaves the process. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ImportedRunError } from '../db/imports/imported-version.ts';
import { AnswerTooLargeError } from '../db/answer-size.ts';
import { DatabaseBusyError, isOutage } from '../db/outage.ts';
import { preferredType } from './accept.ts';
import { ApiError, problemOf } from './errors.ts';
import { describeValidationError } from './validation.ts';

/** `answerElse` may answer a request without a route, because the web UI has pages at many paths. */
export function installProblems(
  app: FastifyInstance,
  answerElse: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined,
): void {
  const routes = collectRoutes(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // The framework knows this method and requires a content type before it looks for a route. No route has this
    // method.
    const isQuery = error.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE';
    const problem = isQuery ? noSuchRoute(request, routes) : asApiError(error);
    if (problem.status >= 500) {
      // A known error needs no stack. During an outage, every request logs one line.
      if (problem.code === 'internal_error') request.log.error({ code: 'SVC6002', err: error }, 'request failed');
      else request.log.warn({ code: 'SVC6003', reason: error.message }, problem.code);
    }
    return sendProblem(request, reply, problem);
  });
  app.setNotFoundHandler((request, reply) => {
    const problem = noSuchRoute(request, routes);
    const answered = problem.code === 'route_not_found' ? answerElse(request, reply) : undefined;
    return answered ?? sendProblem(request, reply, problem);
  });
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply {
  const problem = problemOf(error, request.url.split('?', 1)[0] ?? '');
  const answer = reply
    .code(error.status)
    .headers({ ...(error.status === 401 && { 'www-authenticate': 'Bearer' }), ...error.headers })
    .header('cache-control', 'no-store');
  const { problemPage } = request.routeOptions?.config ?? {};
  if (problemPage && preferredType(request.headers.accept, ['application/problem+json', 'text/html']) === 'text/html')
    return answer.type('text/html; charset=utf-8').serializer(String).send(problemPage(problem, request.id));
  return answer.type('application/problem+json').serializer(JSON.stringify).send(problem);
}

function asApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error;
  if (isOutage(error)) {
    return new ApiError('database_unavailable', error.advice, { 'retry-after': '1' });
  }
  if (error instanceof ImportedRunError) return new ApiError('conflict', error.message);
  if (error instanceof DatabaseBusyError) {
    return new ApiError('overloaded', 'the database is busy with other requests: try again shortly', {
      'retry-after': '2',
    });
  }
  if (error instanceof AnswerTooLargeError) {
    const limit = `${error.maxBytes / 1024 / 1024} MiB`;
    return new ApiError(
      'answer_too_large',
      `the answer would have more than ${limit}: ask for fewer entries with limit`,
    );
  }
  if (error.validation) return describeValidationError(error.validation, error.validationContext ?? 'request');
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('body_too_large', 'the body is larger than this path accepts');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError('unsupported_media_type', 'send the body as application/json');
    case 'FST_CP_ERR_INVALID_CONTENT_ENCODING':
      return new ApiError('unsupported_media_type', 'send the body plain, or as gzip, deflate or br');
    case 'FST_CP_ERR_INVALID_CONTENT':
      return new ApiError('invalid_request', 'the body is not compressed as Content-Encoding says');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('invalid_request', 'the body is not as long as Content-Length says');
    case '57014': // cancelled by database.statement_timeout; the database itself is reachable
      return new ApiError(
        'statement_timeout',
        'the database took longer over this than it may: ask for less at once, or try again later',
        { 'retry-after': '5' },
      );
    // Postgres cannot store U+0000. It comes from a path or a query, because bodies with it are refused earlier
    case '22021':
    case '22P05': // the same character inside JSON
      return new ApiError('invalid_request', 'text must not contain the character U+0000');
    case '22007': // not a date, or not one that Postgres knows; schemas check requests, but not the specs of DAGs
    case '22008':
    case '22009':
      return new ApiError('invalid_request', 'a date is not valid, or outside the years 1 to 9999');
    case '22003': // a number too large for its column; schemas bound requests, but not the specs of DAGs
      return new ApiError('invalid_request', 'a number is larger than can be stored');
    default:
      if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
        return new ApiError('invalid_request', 'the request is malformed');
      }
      return new ApiError('internal_error', 'something went wrong here; the log has the details under this request id');
  }
}

/** Answers bytes that are not valid HTTP. There is no request to answer, so the problem goes directly to the socket. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy(); // the peer is gone, or a second answer would corrupt one that is being sent
    return;
  }
  const problem = problemOf(brokenRequest(error.code), '');
  const body = JSON.stringify(problem);
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

function brokenRequest(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('headers_too_large', 'the request line and headers must fit into 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('request_timeout', 'the request did not arrive in time');
    default:
      return new ApiError('invalid_request', 'this is not a valid HTTP request');
  }
}

type KnownRoute = { method: string; matches: RegExp };

/**
 * Collects the routes, so that a known path with another method answers 405 with `Allow`. Fastify alone answers 404.
 */
function collectRoutes(app: FastifyInstance): KnownRoute[] {
  const routes: KnownRoute[] = [];
  app.addHook('onRoute', (route) => {
    if (route.method === 'OPTIONS') return; // the preflight route matches every path
    const pattern = route.url
      .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/:\w+/g, '[^/]+')
      .replaceAll('*', '.*');
    for (const method of [route.method].flat()) routes.push({ method, matches: new RegExp(`^${pattern}/?$`) });
  });
  return routes;
}

function noSuchRoute(request: FastifyRequest, routes: readonly KnownRoute[]): ApiError {
  const path = request.url.split('?', 1)[0] ?? '';
  const allowed = [...new Set(routes.filter((route) => route.matches.test(path)).map((route) => route.method))].sort();
  if (allowed.length > 0 && !allowed.includes(request.method)) {
    return new ApiError('method_not_allowed', `${request.method} is not allowed here: use ${allowed.join(' or ')}`, {
      allow: allowed.join(', '),
    });
  }
  return new ApiError('route_not_found', 'there is nothing at this path: GET /openapi.json lists what there is');
}
