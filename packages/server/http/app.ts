/** The HTTP application: the rules that hold for every route, around the routes it is given. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import { LogController, fastify } from 'fastify';
import type {
  FastifyBaseLogger,
  FastifyPluginCallback,
  FastifyReply,
  FastifyRequest,
  FastifyServerFactory,
} from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { AdmissionServer } from './admission-server.ts';
import { installAccessControl, requireAccessDeclarations } from './access.ts';
import type { AccessOptions } from './access.ts';
import { ApiError } from './errors.ts';
import { installJsonParser } from './body/json-body.ts';
import { createSerializerCompiler } from './lazy-schemas.ts';
import { registerProbes } from './probes.ts';
import type { ProbedDatabase } from './probes.ts';
import { installOpenApi } from './openapi/openapi.ts';
import { declareQueries } from './query-rules.ts';
import { answerBrokenRequest, installProblems, sendProblem } from './problems.ts';
import { refuseUntilReady } from './readiness.ts';
import type { Readiness } from './readiness.ts';
import { installSecurityHeaders } from './security-headers.ts';
import type { App } from './typed-app.ts';
import { createValidatorCompiler } from './validation.ts';

const BODY_LIMIT_BYTES = 1024 * 1024;
/** Ids have at most 250 characters; percent-encoded UTF-8 makes up to twelve of one. */
const MAX_PARAM_LENGTH = 3_000;
/** A client gets this long to send its request: one that dribbles bytes must not hold a socket for ever. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the idle time of the usual load balancers (60 s): they close, not we. */
const KEEP_ALIVE_MS = 72_000;
/**
 * Characters that are compressed in one go, 4 ms of a list of runs. Through the library's streams, in the thread pool, a DAG list of
 * 245,000 takes 4 ms of latency and as much processor time, of which 1 ms is the compression.
 */
const COMPRESSED_AT_ONCE = 1024 * 1024;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

export type AppOptions = {
  readiness: Readiness;
  db: ProbedDatabase;
  access: AccessOptions;
  /** Without it every request is served at once. */
  admission?: AdmissionServer;
  /** Whether the listener speaks TLS. */
  isSecure?: boolean;
  corsOrigins: readonly string[];
  logger: FastifyBaseLogger;
  /** Metrics and traces of requests. */
  plugins: readonly FastifyPluginCallback[];
  /** Undefined: nothing but the probes is served. */
  registerRoutes?: RegisterRoutes | undefined;
};

/** Registers all routes but the probes; what comes back answers paths that none of them does. */
export type RegisterRoutes = (app: App) => AnswerElse;
/** Undefined: there is nothing at this path. */
export type AnswerElse = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;

export async function buildApp(options: AppOptions): Promise<App> {
  const { readiness, db, access, admission, corsOrigins, logger, plugins, registerRoutes } = options;
  const serverFactory: FastifyServerFactory<Server> | undefined =
    admission && ((handler) => withTimeouts(admission.create(handler)));
  const app: App = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    ...(serverFactory && { serverFactory }),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: true },
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    // Neither of these two passes through the hooks: there is no route yet, or not even a request.
    frameworkErrors: (_error, request, reply) =>
      sendProblem(
        request,
        reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff'),
        new ApiError(
          'invalid_request',
          'the path is not valid: check its percent-encoding and the length of its parts',
        ),
      ),
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(createValidatorCompiler());
  app.setSerializerCompiler(createSerializerCompiler());

  let answerElse: AnswerElse | undefined;
  installProblems(app, (request, reply) => answerElse?.(request, reply));
  installJsonParser(app);
  requireAccessDeclarations(app);
  declareQueries(app);
  answerWithRequestId(app);
  // Hooks run in this order, and the first that refuses ends the request: what every answer needs, refusals too, comes first.
  for (const plugin of plugins) await app.register(plugin);
  installSecurityHeaders(app, { isSecure: options.isSecure ?? false });
  await app.register(cors, {
    origin: [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    credentials: true,
    exposedHeaders: ['x-request-id', 'retry-after', 'link'],
    strictPreflight: false, // the strict refusal is plain text, and would be the only error that is no problem body
  });
  await app.register(cookie);
  refuseUntilReady(app, readiness); // before access control, which needs the schema
  installAccessControl(app, access);
  admission?.releaseStreams(app); // before what compresses, which makes a stream of every answer
  await app.register(compress, {
    threshold: 1_024,
    // The quickest level: lists are so regular that the others make them hardly shorter, and take two to four times as long.
    zlibOptions: { level: constants.Z_BEST_SPEED },
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
    syncThreshold: COMPRESSED_AT_ONCE,
  });
  if (registerRoutes) await installOpenApi(app);
  registerProbes(app, { db, readiness });
  if (registerRoutes) answerElse = registerRoutes(app);
  await app.ready();
  return app;
}

/** What Fastify sets for a server that it makes itself. */
function withTimeouts(server: Server): Server {
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

function answerWithRequestId(app: App): void {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
    // Answers are made for one caller; what may be kept says so itself.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, url } = request;
    const details = {
      method,
      path: url.split('?', 1)[0],
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      client: request.clientIp,
      user: request.maybePrincipal?.email,
    };
    request.log.info(details, 'request');
  });
}
