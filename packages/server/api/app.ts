/** The HTTP application: cross-cutting rules first, then one line per resource. */
import { randomUUID } from 'node:crypto';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import { LogController, fastify } from 'fastify';
import type { FastifyBaseLogger, FastifyPluginCallback } from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { installAccessControl } from './access.ts';
import type { AccessOptions } from './access.ts';
import { ApiError } from './errors.ts';
import { registerEventLogs } from './event-logs.ts';
import { registerMonitor } from './monitor.ts';
import { registerProbes } from './probes.ts';
import { installOpenApi } from './openapi.ts';
import { registerPages } from './pages.ts';
import { installProblems, sendProblem } from './problems.ts';
import type { App, Services } from './services.ts';
import { registerTokens } from './tokens.ts';
import { registerUsers } from './users.ts';
import { createValidatorCompiler } from './validation.ts';

const BODY_LIMIT_BYTES = 1024 * 1024;
/** Ids have at most 250 characters; percent-encoded UTF-8 makes up to nine of one. */
const MAX_PARAM_LENGTH = 2_250;
/** A client gets this long to send its request: one that dribbles bytes must not hold a socket for ever. */
const REQUEST_TIMEOUT_MS = 60_000;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

export type AppOptions = {
  services: Services;
  access: AccessOptions;
  logger: FastifyBaseLogger;
  /** Metrics and traces of requests. */
  plugins: readonly FastifyPluginCallback[];
};

export async function buildApp({ services, access, logger, plugins }: AppOptions): Promise<App> {
  const app: App = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: true },
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    frameworkErrors: (_error, request, reply) =>
      sendProblem(request, reply, new ApiError('invalid_request', 'the path is not valid')),
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(createValidatorCompiler());

  installProblems(app);
  answerWithRequestId(app);
  refuseUntilReady(app, services); // before access control, which needs the schema
  installAccessControl(app, access);
  await app.register(cookie);
  await app.register(cors, {
    origin: [...services.config.server.cors.allowedOrigins],
    credentials: true,
    exposedHeaders: ['x-request-id'],
  });
  await app.register(helmet, {
    contentSecurityPolicy: { directives: CONTENT_SECURITY_POLICY },
    strictTransportSecurity: false,
  });
  await app.register(compress, { threshold: 1_024 });
  for (const plugin of plugins) await app.register(plugin);
  registerProbes(app, services);
  if (services.config.server.role !== 'scheduler') await registerResources(app, services);
  await app.ready();
  return app;
}

/** Everything but the probes: what a process of the role `scheduler` does not serve. */
async function registerResources(app: App, services: Services): Promise<void> {
  await installOpenApi(app);
  registerTokens(app, services);
  registerUsers(app, services);
  registerEventLogs(app, services);
  registerMonitor(app, services);
  registerPages(app, services);
}

/** Our own pages load nothing from elsewhere and run no inline script. */
const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  frameAncestors: ["'none'"],
  formAction: ["'self'"],
  upgradeInsecureRequests: null,
};

/** Before the schema is there, every answer but the probes' would be an internal error. */
function refuseUntilReady(app: App, { readiness }: Services): void {
  app.addHook('onRequest', async (request) => {
    if (request.url === '/healthz' || request.url === '/readyz') return;
    const reason = readiness.reason();
    if (reason !== null) throw new ApiError('not_ready', reason, { 'retry-after': '1' });
  });
}

function answerWithRequestId(app: App): void {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
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
