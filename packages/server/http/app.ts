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
import type { AdmissionServer } from './admission/admission-server.ts';
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
/** Ids have at most 250 characters. Percent-encoded UTF-8 turns one character into up to twelve. */
const MAX_PARAM_LENGTH = 3_000;
/**
 * A client must send its request within this time. A client that sends bytes very slowly must not hold a socket
 * forever.
 */
const REQUEST_TIMEOUT_MS = 60_000;
/** This is longer than the idle time of common load balancers (60 s), so that they close connections first. */
const KEEP_ALIVE_MS = 72_000;
/**
 * Answers up to this many characters are compressed synchronously. The streams and the thread pool of the library cost
 * more latency and processor time than the compression itself.
 */
const COMPRESSED_AT_ONCE = 1024 * 1024;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

export type AppOptions = {
  readiness: Readiness;
  db: ProbedDatabase;
  access: AccessOptions;
  /** Without it, every request is served at once. */
  admission?: AdmissionServer;
  /** True if the listener speaks TLS. */
  isSecure?: boolean;
  corsOrigins: readonly string[];
  logger: FastifyBaseLogger;
  /** Metrics and traces of requests. */
  plugins: readonly FastifyPluginCallback[];
  /** If undefined, only the probes are served. */
  registerRoutes?: RegisterRoutes | undefined;
};

/** Registers all routes except the probes. It returns a function that answers paths without a route. */
export type RegisterRoutes = (app: App) => AnswerElse;
/** Returns undefined if the path does not exist. */
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
    // These two answers bypass the hooks: there is no route yet, or not even a request.
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
  // Hooks run in this order, and the first refusal ends the request. What every answer needs, including refusals,
  // therefore comes first.
  for (const plugin of plugins) await app.register(plugin);
  installSecurityHeaders(app, { isSecure: options.isSecure ?? false });
  await app.register(cors, {
    origin: [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    credentials: true,
    exposedHeaders: ['x-request-id', 'retry-after', 'link'],
    strictPreflight: false, // the strict refusal is plain text; all other errors are problem bodies
  });
  await app.register(cookie);
  refuseUntilReady(app, readiness); // must run before access control, which needs the schema
  installAccessControl(app, access);
  admission?.releaseStreams(app); // must run before compression, which turns every answer into a stream
  await app.register(compress, {
    threshold: 1_024,
    // The fastest level. Lists are so regular that higher levels hardly shorten them and take several times as long.
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

/** Sets the timeouts that Fastify sets for a server that it creates itself. */
function withTimeouts(server: Server): Server {
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

function answerWithRequestId(app: App): void {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
    // Answers are made for one caller. A route whose answer may be cached sets its own header.
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
