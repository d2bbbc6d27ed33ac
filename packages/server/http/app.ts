/** The HTTP application: cross-cutting rules first, then one line per resource. */
import { randomUUID } from 'node:crypto';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import { LogController, fastify } from 'fastify';
import type { FastifyBaseLogger, FastifyPluginCallback } from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { installAccessControl, requireAccessDeclarations } from './access.ts';
import type { AccessOptions } from './access.ts';
import { registerAirflowConfig } from '../api/monitor/airflow-config.ts';
import { registerAssetEvents } from '../api/assets/events.ts';
import { registerAssetQueue } from '../api/assets/queue.ts';
import { registerAssets } from '../api/assets/assets.ts';
import { registerBackfills } from '../api/backfills/backfills.ts';
import { registerConnections } from '../api/connections/connections.ts';
import { registerDagRuns } from '../api/dag-runs/dag-runs.ts';
import { registerDagSources } from '../api/dags/sources.ts';
import { registerDagTags } from '../api/dags/tags.ts';
import { registerDagVersions } from '../api/dags/versions.ts';
import { registerDagWarnings } from '../api/dags/warnings.ts';
import { registerDags } from '../api/dags/dags.ts';
import { ApiError } from './errors.ts';
import { registerEventLogs } from '../api/monitor/event-logs.ts';
import { registerHitl } from '../api/hitl/hitl.ts';
import { registerIdePage } from '../api/ide/page.ts';
import { registerIde } from '../api/ide/ide.ts';
import { installJsonParser } from './json-body.ts';
import { registerImportErrors } from '../api/dags/import-errors.ts';
import { registerJobs } from '../api/monitor/jobs.ts';
import { createSerializerCompiler } from './lazy-schemas.ts';
import { registerLogs } from '../api/logs/logs.ts';
import { registerMonitor } from '../api/monitor/monitor.ts';
import { registerParseDagFile } from '../api/dags/parse-dag-file.ts';
import { registerPlugins } from '../api/monitor/plugins.ts';
import { registerPools } from '../api/pools/pools.ts';
import { registerProbes } from './probes.ts';
import { registerProviders } from '../api/monitor/providers.ts';
import { installOpenApi } from './openapi.ts';
import { registerPages } from '../api/ui/own-pages.ts';
import { answerBrokenRequest, installProblems, sendProblem } from './problems.ts';
import { installSecurityHeaders } from './security-headers.ts';
import type { App, Services } from '../api/services.ts';
import { registerTaskInstances } from '../api/task-instances/task-instances.ts';
import { registerTasks } from '../api/dags/tasks.ts';
import { registerTokens } from '../api/auth/tokens.ts';
import { registerUsers } from '../api/auth/users.ts';
import { registerUiBundle, sendUiPage } from '../api/ui/bundle.ts';
import type { UiPages } from '../api/ui/bundle.ts';
import { registerUi } from '../api/ui/register.ts';
import { createValidatorCompiler } from './validation.ts';
import { registerVariables } from '../api/variables/variables.ts';
import { registerXcoms } from '../api/xcoms/xcoms.ts';

const BODY_LIMIT_BYTES = 1024 * 1024;
/** Ids have at most 250 characters; percent-encoded UTF-8 makes up to twelve of one. */
const MAX_PARAM_LENGTH = 3_000;
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

  let uiPages: UiPages = { pageFor: () => undefined };
  installProblems(app, (request, reply) => {
    const page = uiPages.pageFor(request);
    return page === undefined ? undefined : sendUiPage(reply, page);
  });
  installJsonParser(app);
  requireAccessDeclarations(app);
  answerWithRequestId(app);
  // Hooks run in this order, and the first that refuses ends the request: what every answer needs, refusals too, comes first.
  for (const plugin of plugins) await app.register(plugin);
  installSecurityHeaders(app);
  await app.register(cors, {
    origin: [...services.config.server.cors.allowedOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    credentials: true,
    exposedHeaders: ['x-request-id', 'retry-after'],
    strictPreflight: false, // the strict refusal is plain text, and would be the only error that is no problem body
  });
  await app.register(cookie);
  refuseUntilReady(app, services); // before access control, which needs the schema
  installAccessControl(app, access);
  await app.register(compress, { threshold: 1_024 });
  const servesApi = services.config.server.role !== 'scheduler';
  if (servesApi) await installOpenApi(app);
  registerProbes(app, services);
  if (servesApi) uiPages = registerResources(app, services);
  await app.ready();
  return app;
}

/** Everything but the probes: what a process of the role `scheduler` does not serve. */
function registerResources(app: App, services: Services): UiPages {
  registerTokens(app, services);
  registerUsers(app, services);
  registerConnections(app, services);
  registerVariables(app, services);
  registerPools(app, services);
  registerDags(app, services);
  registerDagVersions(app, services);
  registerDagSources(app, services);
  registerDagTags(app, services);
  registerDagRuns(app, services);
  registerTaskInstances(app, services);
  registerLogs(app, services);
  registerXcoms(app, services);
  registerTasks(app, services);
  registerBackfills(app, services);
  registerAssets(app, services);
  registerAssetEvents(app, services);
  registerAssetQueue(app, services);
  registerImportErrors(app, services);
  registerDagWarnings(app, services);
  registerEventLogs(app, services);
  registerMonitor(app, services);
  registerJobs(app, services);
  registerParseDagFile(app, services);
  registerPlugins(app);
  registerProviders(app, services);
  registerAirflowConfig(app, services);
  registerHitl(app, services);
  registerIde(app, services);
  registerUi(app, services);
  const uiPages = registerUiBundle(app, services);
  registerPages(app, services, uiPages);
  registerIdePage(app, services);
  return uiPages;
}

/** Before the schema is there, every answer but the probes' would be an internal error. */
function refuseUntilReady(app: App, { readiness }: Services): void {
  app.addHook('onRequest', async (request) => {
    if (['/healthz', '/readyz'].includes(request.routeOptions.url ?? '')) return;
    const reason = readiness.reason();
    if (reason !== null) throw new ApiError('not_ready', reason, { 'retry-after': '1' });
  });
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
