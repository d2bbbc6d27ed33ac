/** The OpenAPI document, generated from the routes, and its readable form at /docs. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { API_VERSION } from './api-version.ts';
import { ICON } from '@svc/web/pages.ts';
import { VERSION } from '../../version.ts';
import type { Access } from '../access.ts';
import { GROWTH } from './growth.ts';
import { withNamedParts } from './parts.ts';
import { refusalsOf } from './refusals.ts';

export async function installOpenApi(app: FastifyInstance): Promise<void> {
  const documented = new Map<string | undefined, Access | undefined>();
  app.addHook('onRoute', (route) => {
    const access = route.config?.access;
    const operationId = route.schema?.operationId;
    if (!route.schema || route.schema.hide) {
      // The authorization tests are generated from the document. A route outside the document must therefore be public,
      // or must be another path of a documented operation.
      if (access !== 'public' && access !== documented.get(operationId))
        throw new Error(`route ${route.url} needs ${access} and must be in the API document`);
      return;
    }
    documented.set(operationId, access);
    route.schema.response = { ...refusalsOf(route), ...(route.schema.response as object | undefined) };
    route.schema.security ??= access === 'public' ? [] : [{ bearer: [] }];
    // The authorization tests read it, so the document itself says who may call what.
    const grows = route.config?.grows;
    Object.assign(route.schema, { 'x-access': access, ...(grows && { 'x-grows-with': GROWTH[grows] }) });
  });

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc control plane',
        version: API_VERSION,
        description: `Airflow 3.2 compatible HTTP API of the svc control plane (build ${VERSION}). Get a token with POST /auth/token and send it as \`Authorization: Bearer\`.`,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
    transformObject: (document) =>
      'openapiObject' in document ? withNamedParts(document.openapiObject) : document.swaggerObject,
  });
  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } }, async () => app.swagger());
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'none', deepLinking: true, filter: true, persistAuthorization: false },
    theme: { title: 'svc API reference' },
    logo: { type: 'image/svg+xml', content: ICON, href: '/', target: '_self' },
    // The policy of the library would make browsers use https, which a server without TLS does not speak. Our own
    // policy applies instead.
    staticCSP: false,
  });
}
