/** Serves our pages inside the Airflow UI, and their assets. They are public; their data comes from the API. */
import type { FastifyReply } from 'fastify';
import { TAB_PAGES, renderTab, tabAssets } from '@svc/web/tabs.ts';
import { basePath } from '../../config/resolved.ts';
import { sendPage } from '../../http/static-files.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { TABS_PATH } from './own-tabs.ts';

const PUBLIC = { config: { access: 'public' as const }, schema: { hide: true } };

/** As for all our pages, except that the UI of the same origin may frame them. */
const FRAMED_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'self'",
  "frame-ancestors 'self'",
  "form-action 'self'",
].join(';');

export function registerTabPages(app: App, { config }: Services): void {
  for (const page of TAB_PAGES) {
    const rendered = renderTab(page, { basePath: basePath(config), tabsPath: TABS_PATH });
    app.get(`/${TABS_PATH}/${page}`, PUBLIC, async (request, reply) => sendPage(request, framed(reply), rendered));
  }
  for (const [name, asset] of tabAssets()) {
    app.get(`/${TABS_PATH}/static/${name}`, PUBLIC, async (request, reply) => sendPage(request, reply, asset));
  }
}

const framed = (reply: FastifyReply): FastifyReply =>
  reply.header('content-security-policy', FRAMED_POLICY).header('x-frame-options', 'SAMEORIGIN');
