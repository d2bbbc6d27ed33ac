/**
 * Serves the published bundle of the web UI. Every path without another route answers with its page, so that links into
 * the UI work. It never shadows paths of the API. Without a bundle, our own home page explains how to get it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SHELL_FILES, bundleFolder, openBundle, renderShell } from '@svc/web/bundle.ts';
import type { Bundle } from '@svc/web/bundle.ts';
import { basePath, editionOf } from '../../config/resolved.ts';
import { ApiError } from '../../http/errors.ts';
import { sendFile } from '../../http/static-files.ts';
import type { App } from '../../http/typed-app.ts';
import { VERSION } from '../../version.ts';
import type { Services } from '../services.ts';

/**
 * The published package refers to this module without containing it. The UI works without it, only without SQL
 * highlighting. This answer avoids an error in the browser.
 */
const LEFT_OUT = 'wasm/sqlparser_rs_wasm.js';
const LEFT_OUT_BODY = "export default () => Promise.reject(new Error('not part of the published web UI'));\n";

/** Paths of the API and of our own pages. An unknown path among them is a 404 instead of a page. */
const NOT_PAGES =
  /^\/(api|ui|auth|static|svc-static|svc-pages|execution|healthz|readyz|metrics|openapi\.json|docs|ide)(\/|$)/;

/** The layout worker is loaded from a blob, styles are injected, and the SQL parser is WebAssembly. */
const UI_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
  "form-action 'self'",
].join(';');

/** Returns the page for a path of the UI. Undefined if the path is not a page of the UI, or if there is no bundle. */
export type UiPages = { pageFor(request: FastifyRequest): string | undefined };

export function registerUiBundle(app: App, { config }: Services): UiPages {
  const bundle = openBundle(config.ui.distDir || bundleFolder(process.env, config.ui.airflowVersion));
  for (const [name, { body, contentType }] of SHELL_FILES) {
    app.get(`/svc-static/${name}`, PUBLIC, async (_request, reply) =>
      reply.header('cache-control', 'no-cache').type(contentType).send(body),
    );
  }
  if (!bundle) return { pageFor: () => undefined };
  app.get('/static/*', PUBLIC, async (request, reply) => {
    const name = (request.params as { '*': string })['*'];
    const file = bundle.files.get(name);
    if (!file && name === LEFT_OUT) return reply.type('text/javascript; charset=utf-8').send(LEFT_OUT_BODY);
    if (!file) throw new ApiError('not_found', 'the web UI has no such file');
    return sendFile(request, reply, file);
  });
  const page = shellOf(bundle, { config });
  return {
    pageFor(request) {
      const path = request.url.split('?', 1)[0] ?? '/';
      return request.method === 'GET' && !NOT_PAGES.test(path) ? page : undefined;
    },
  };
}

const PUBLIC = { config: { access: 'public' as const }, schema: { hide: true } };

export const sendUiPage = (reply: FastifyReply, page: string): FastifyReply =>
  reply
    .code(200)
    .header('cache-control', 'no-cache')
    .header('content-security-policy', UI_POLICY)
    .type('text/html; charset=utf-8')
    .send(page);

function shellOf(bundle: Bundle, { config }: Pick<Services, 'config'>): string {
  const base = `${basePath(config)}/`;
  return renderShell(bundle, {
    base,
    instanceName: config.ui.instanceName,
    edition: editionOf(config),
    airflowVersion: config.ui.airflowVersion,
    version: VERSION,
    // Without a workspace, the button would only lead to a page of advice.
    editor: config.ui.workspace === '' ? undefined : `${base}ide`,
  });
}
