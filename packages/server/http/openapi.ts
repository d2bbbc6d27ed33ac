/** The OpenAPI document, generated from the routes, and its readable form at /docs. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { ICON } from '@svc/web/pages.ts';
import { VERSION } from '../version.ts';
import type { Access } from './access.ts';
import { PROBES } from './probes.ts';
import { ProblemSchema } from './schemas.ts';

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: ProblemSchema } },
});

/** What any call may answer beside what its route declares. */
const COMMON_PROBLEMS: Record<string, unknown> = {
  400: problem('The request is not valid; `detail` names the field'),
  503: problem('The database, or what this call needs, is not available right now; or the server is overloaded'),
};
/** Probes are never turned away. */
const OVERLOADED = { 429: problem('The caller has too many requests waiting; `Retry-After` says when to come back') };
const AUTHENTICATED_PROBLEMS: Record<string, unknown> = {
  401: problem('No token, or one that is not valid any more'),
  403: problem('The caller lacks the permission named in `detail`'),
};

export async function installOpenApi(app: FastifyInstance): Promise<void> {
  const documented = new Map<string | undefined, Access | undefined>();
  app.addHook('onRoute', (route) => {
    const access = route.config?.access;
    const operationId = route.schema?.operationId;
    if (!route.schema || route.schema.hide) {
      // The authorization tests are generated from the document. What is not in it must be public, or another way to write
      // the path of an operation that is.
      if (access !== 'public' && access !== documented.get(operationId))
        throw new Error(`route ${route.url} needs ${access} and must be in the API document`);
      return;
    }
    documented.set(operationId, access);
    const responses = (route.schema.response ?? {}) as Record<string, unknown>;
    route.schema.response = {
      ...COMMON_PROBLEMS,
      ...(!PROBES.has(route.url) && OVERLOADED),
      ...(access !== 'public' && AUTHENTICATED_PROBLEMS),
      ...(route.url.includes(':') && { 404: problem('There is no such thing, or not for the caller') }),
      ...responses,
    };
    route.schema.security ??= access === 'public' ? [] : [{ bearer: [] }];
    // Read by the authorization tests: the document itself says who may call what.
    Object.assign(route.schema, { 'x-access': access });
  });

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc control plane',
        version: '1.0.0',
        description: `Airflow 3.2 compatible HTTP API of the svc control plane (build ${VERSION}). Get a token with POST /auth/token and send it as \`Authorization: Bearer\`.`,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
    transformObject: (document) =>
      'openapiObject' in document ? withNamedSchemas(document.openapiObject) : document.swaggerObject,
  });
  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } }, async () => app.swagger());
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'none', deepLinking: true, filter: true, persistAuthorization: false },
    theme: { title: 'svc API reference' },
    logo: { type: 'image/svg+xml', content: ICON, href: '/', target: '_self' },
    // Its own policy would make browsers ask for https, which a server behind no TLS proxy does not speak: ours stands.
    staticCSP: false,
  });
}

/** Moves every schema that has a title into components, once, and refers to it by name: shorter, and readable. */
function withNamedSchemas<Doc extends object>(document: Doc): Doc {
  const named: Record<string, unknown> = {};
  const visit = (value: unknown): unknown => {
    if (value === 'Default Response') return 'Done'; // the library's word for a response nobody described
    if (Array.isArray(value)) return value.map(visit);
    if (value === null || typeof value !== 'object') return value;
    const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
    if (isParameterWithDefault(copy)) return { ...copy, required: false };
    if (!isNamedSchema(copy)) return copy;
    named[copy.title] ??= copy;
    return { $ref: `#/components/schemas/${copy.title}` };
  };
  const { paths, components, ...rest } = document as Record<string, unknown>;
  const visited = visit(paths);
  const sorted = Object.fromEntries(Object.entries(named).sort(([a], [b]) => a.localeCompare(b)));
  return { ...rest, paths: visited, components: { ...(components as object), schemas: sorted } } as Doc;
}

/** Handlers always see a value; callers may leave it out. */
const isParameterWithDefault = (value: Record<string, unknown>): boolean =>
  value['in'] === 'query' && Object.hasOwn((value['schema'] as object | undefined) ?? {}, 'default');

const isNamedSchema = (value: Record<string, unknown>): value is { title: string } =>
  typeof value['title'] === 'string' && value['type'] === 'object';
