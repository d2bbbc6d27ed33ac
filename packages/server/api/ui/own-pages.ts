/** The login page and the home page. They are public; their data comes from the API with the visitor's session. */
import { renderPages } from '@svc/web/pages.ts';
import type { Page } from '@svc/web/html.ts';
import { FIRST_ADMIN_COMMAND, createEmptyCheck } from '../../auth/bootstrap.ts';
import { basePath, editionOf, needsFirstUser } from '../../config/resolved.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { sendPage } from '../../http/static-files.ts';
import { sendUiPage } from './bundle.ts';
import type { UiPages } from './bundle.ts';

export function registerPages(app: App, { config, db }: Services, ui: UiPages): void {
  const pages = renderPages({
    basePath: basePath(config),
    instanceName: config.ui.instanceName,
    edition: editionOf(config),
    firstUserCommand: FIRST_ADMIN_COMMAND,
    ...(config.auth.provider === 'oidc' && {
      singleSignOn: { hasEmergencyAccess: config.auth.oidc.breakGlassEmails.length > 0 },
    }),
  });
  const serve = (path: string, page: Page) =>
    app.get(path, { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) =>
      sendPage(request, reply, page),
    );
  // If the web UI is installed, it is the home page. Otherwise our own page explains how to get it.
  app.get('/', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const page = ui.pageFor(request);
    return page === undefined ? sendPage(request, reply, pages.home) : sendUiPage(reply, page);
  });
  const isEmpty = createEmptyCheck(db.shared);
  app.get('/auth/login', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    // During an outage of the database, the attempt to log in reports it.
    const nobodyThere = needsFirstUser(config) && (await isEmpty().catch(() => false));
    return sendPage(request, reply, nobodyThere ? pages.loginOfNobody : pages.login);
  });
  for (const [name, asset] of pages.assets) serve(`/auth/static/${name}`, asset);
}
