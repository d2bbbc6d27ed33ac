/** Single sign-on in a browser: redirects to the identity provider, and opens a session on the way back. */
import { renderSignInPages } from '@svc/web/sign-in-pages.ts';
import { Type } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieNameOf, isSignInCookie } from '../../auth/oidc/sign-in-state.ts';
import type { Started } from '../../auth/oidc/single-sign-on.ts';
import { OIDC_CALLBACK_PATH } from '../../config/oidc-checks.ts';
import { basePath } from '../../config/resolved.ts';
import { ApiError } from '../../http/errors.ts';
import type { Problem } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { SIGN_IN_REFUSALS, signedIn } from './oidc-refusal.ts';
import { isOwnPath } from './own-path.ts';
import { cookieOptions, setSessionCookie } from './session-cookie.ts';

/** Beyond this number, abandoned sign-ins are dropped, because their cookies would fill the headers. */
const MAX_SIGN_INS_AT_ONCE = 4;

export function registerOidc(app: App, services: Services): void {
  const { config } = services;
  const pages = renderSignInPages({ basePath: basePath(config), instanceName: config.ui.instanceName });
  const problemPage = ({ title, detail }: Problem, requestId: string): string =>
    pages.problem({ title, detail, requestId });
  /** The cookies are sent only to the paths of the sign-in. */
  const cookie = { ...cookieOptions(config), path: signInPath(config.auth.oidc.redirectUrl) };

  function toProvider(request: FastifyRequest, reply: FastifyReply, started: Started): FastifyReply {
    const begun = Object.keys(request.cookies).filter(isSignInCookie);
    if (begun.length >= MAX_SIGN_INS_AT_ONCE) for (const name of begun) reply.clearCookie(name, cookie);
    const { name, value, maxAgeSeconds } = started.cookie;
    reply.setCookie(name, value, { ...cookie, maxAge: maxAgeSeconds }).header('cache-control', 'no-store');
    return reply.redirect(started.location.href, 302);
  }

  app.get(
    '/api/v2/auth/oidc/login',
    {
      config: { access: 'public', refuses: ['unsafe_redirect', ...SIGN_IN_REFUSALS], problemPage },
      schema: {
        operationId: 'oidc_login',
        tags: ['Authentication'],
        summary: 'Redirect to the identity provider, and from there back to `next` with a session',
        description: 'For browsers. Only where `auth.provider` is `oidc`.',
        querystring: Type.Object({ next: Type.Optional(Type.String({ maxLength: 2_048 })) }),
        response: { 302: Type.Null({ description: 'To the identity provider' }) },
      },
    },
    async (request, reply) => {
      const { next = `${basePath(config)}/` } = request.query;
      if (!isOwnPath(next)) throw new ApiError('unsafe_redirect', 'next must be a path on this site, such as /dags');
      const started = await signedIn(services, request, (signOn) => signOn.start({ next, cli: null }));
      return toProvider(request, reply, started);
    },
  );

  // This is a page instead of an API operation: `svc auth login --sso` opens it in a browser.
  app.get(
    '/api/v2/auth/oidc/cli',
    {
      config: { access: 'public', problemPage },
      schema: {
        hide: true,
        querystring: Type.Object({
          port: Type.Integer({ minimum: 1_024, maximum: 65_535 }),
          challenge: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
          state: Type.String({ pattern: '^[A-Za-z0-9_-]{16,128}$' }),
        }),
      },
    },
    async (request, reply) => {
      const { port, challenge, state } = request.query;
      const cli = { port, challenge, state };
      const started = await signedIn(services, request, (signOn) => signOn.start({ next: '', cli }));
      return toProvider(request, reply, started);
    },
  );

  // The route is hidden, because only the provider defines its query, and no program calls it.
  app.get(
    OIDC_CALLBACK_PATH,
    { config: { access: 'public', problemPage }, schema: { hide: true } },
    async (request, reply) => {
      const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
      const name = cookieNameOf(query.get('state') ?? '');
      reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
      reply.clearCookie(name, cookie);
      const finished = await signedIn(services, request, (signOn, origin) =>
        signOn.finish({ query, cookie: request.cookies[name], origin }),
      );
      if (finished.kind === 'approval') return reply.type('text/html; charset=utf-8').send(pages.approval(finished));
      setSessionCookie(reply, config, finished.token);
      return reply.redirect(finished.next, 302);
    },
  );
}

/** The path of the redirect URL, to which a proxy may have added a prefix. */
const signInPath = (redirectUrl: string): string =>
  (URL.parse(redirectUrl)?.pathname ?? OIDC_CALLBACK_PATH).replace(/\/callback$/, '');
