/** Token issue and renewal, and the login and logout redirects of the web UI. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { MAX_PASSWORD_LENGTH } from '../../auth/passwords.ts';
import type { IssuedToken, RenewalFault } from '../../auth/sessions.ts';
import type { Config } from '../../config/load.ts';
import { OIDC_CALLBACK_PATH } from '../../config/oidc-checks.ts';
import { basePath } from '../../config/resolved.ts';
import { DEFAULT_TENANT } from '../../db/identity/tenants.ts';
import { SESSION_COOKIE, TENANT_DISABLED, actorOf, presentedToken, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { ErrorCode } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { isOwnPath } from './own-path.ts';
import { cookieOptions, setSessionCookie } from './session-cookie.ts';
import { TokenResponse, tokenBody } from './token-body.ts';

const TokenRequest = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 320, description: 'The e-mail address of the user' }),
    password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH, writeOnly: true }),
    tenant: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: `Default: \`${DEFAULT_TENANT}\`` })),
  },
  { title: 'TokenRequest', additionalProperties: false },
);

const REDIRECT = { 307: Type.Null({ description: 'To the login page' }) };
const LOGOUT_REDIRECT = {
  307: Type.Null({ description: 'To the login page; by way of the identity provider where the session came from it' }),
};

export const RENEWAL_FAULTS: Record<RenewalFault, () => ApiError> = {
  too_old: () =>
    new ApiError('session_too_old', 'this session has reached its maximum age: log in again with POST /auth/token'),
  ended: () => new ApiError('session_ended', 'this session has ended: log in again with POST /auth/token'),
  expired: () => new ApiError('token_expired', 'the token has expired: log in again with POST /auth/token'),
  invalid: () =>
    new ApiError(
      'token_invalid',
      'this token cannot be renewed: log in with POST /auth/token; the token of a service account lasts until it expires',
    ),
  tenant_disabled: () => new ApiError('tenant_disabled', TENANT_DISABLED),
};

/** The error for a password login where single sign-on is required. */
export const passwordsOff = (): ApiError =>
  new ApiError(
    'passwords_off',
    'passwords are for emergency access only here (auth.oidc.break_glass_emails): use single sign-on, at a terminal with "svc auth login --sso"',
  );

export function registerTokens(app: App, services: Services): void {
  registerLogins(app, services);
  registerWithoutCredentials(app, services);
  registerSessions(app, services);
}

/** With and without a session cookie. */
function registerLogins(app: App, { config, sessions }: Services): void {
  const login = async (request: FastifyRequest, body: Static<typeof TokenRequest>): Promise<IssuedToken> => {
    const { username, password, tenant = DEFAULT_TENANT } = body;
    const outcome = await sessions.login({
      username,
      password,
      tenant,
      clientIp: request.clientIp,
      requestId: request.id,
    });
    switch (outcome.kind) {
      case 'rate_limited':
        throw new ApiError('login_rate_limited', 'too many failed logins from this address: wait before the next try', {
          'retry-after': String(outcome.retryAfterSeconds),
        });
      case 'passwords_off':
        throw passwordsOff();
      case 'wrong_credentials':
        throw new ApiError('wrong_credentials', 'the username or the password is wrong');
      case 'tenant_disabled':
        throw new ApiError('tenant_disabled', TENANT_DISABLED);
      case 'ok':
        return outcome.token;
    }
  };
  const refuses: ErrorCode[] = ['wrong_credentials', 'passwords_off', 'tenant_disabled', 'login_rate_limited'];

  app.post(
    '/auth/token',
    {
      config: { access: 'public', refuses },
      schema: {
        operationId: 'create_token',
        tags: ['Authentication'],
        summary: 'Log in with username and password',
        description: 'Also sets the session cookie `_token`, unless the request was made by another site.',
        body: TokenRequest,
        response: { 200: TokenResponse },
      },
    },
    async (request, reply) => {
      const token = await login(request, request.body);
      if (mayCarryCookie(request)) setSessionCookie(reply, config, token);
      return tokenBody(token);
    },
  );

  app.post(
    '/auth/token/cli',
    {
      config: { access: 'public', refuses },
      schema: {
        operationId: 'create_token_cli',
        tags: ['Authentication'],
        summary: 'Log in with username and password, as airflowctl does',
        description: 'As `POST /auth/token`, without a cookie and with the status of Airflow.',
        body: TokenRequest,
        response: { 201: TokenResponse },
      },
    },
    async (request, reply) => reply.code(201).send(tokenBody(await login(request, request.body))),
  );
}

/** Airflow's logins of an installation in which everybody is an administrator. Here that is `auth.dev_no_auth`. */
function registerWithoutCredentials(app: App, { config }: Services): void {
  const refuseUnlessOff = (): void => {
    if (config.auth.devNoAuth) return;
    throw new ApiError('disabled', 'a token needs a username and a password: send them with POST /auth/token');
  };
  app.get(
    '/auth/token',
    {
      config: { access: 'public', refuses: ['disabled'] },
      schema: {
        operationId: 'create_token_all_admins',
        tags: ['Authentication'],
        summary: 'Get a token without credentials, while authentication is off in development',
        description: 'Nothing reads this token: with `auth.dev_no_auth`, every request acts as an administrator.',
        response: { 201: TokenResponse },
      },
    },
    async (_request, reply) => {
      refuseUnlessOff();
      const expiresInSeconds = config.auth.jwt.tokenTtlSeconds;
      return reply.code(201).send(tokenBody({ accessToken: 'authentication-is-off', expiresInSeconds }));
    },
  );

  app.get(
    '/auth/token/login',
    {
      config: { access: 'public', refuses: ['disabled'] },
      schema: {
        operationId: 'login_all_admins',
        tags: ['Authentication'],
        summary: 'Open the web UI without credentials, while authentication is off in development',
        response: { 307: Type.Null({ description: 'To the web UI' }) },
      },
    },
    async (_request, reply) => {
      refuseUnlessOff();
      return reply.redirect(`${basePath(config)}/`, 307);
    },
  );
}

/** Renewal, and the redirects of the web UI to and from the login page. */
function registerSessions(app: App, { config, sessions, singleSignOn }: Services): void {
  app.post(
    '/api/v2/auth/token/renew',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'renew_token',
        tags: ['Authentication'],
        summary: 'Exchange a still valid token for a fresh one of the same session',
        response: { 200: TokenResponse },
      },
    },
    async (request, reply) => {
      const renewed = await sessions.renew(principalOf(request));
      if (typeof renewed === 'string') throw RENEWAL_FAULTS[renewed]();
      if (presentedToken(request).fromCookie) setSessionCookie(reply, config, renewed);
      return tokenBody(renewed);
    },
  );

  app.get(
    '/api/v2/auth/login',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'login',
        tags: ['Authentication'],
        summary: 'Redirect to the login page, and from there back to `next`',
        querystring: Type.Object({ next: Type.Optional(Type.String({ maxLength: 2_048 })) }),
        response: REDIRECT,
      },
    },
    async (request, reply) => {
      const { next } = request.query;
      if (next !== undefined && !isOwnPath(next))
        throw new ApiError('unsafe_redirect', 'next must be a path on this site, such as /dags');
      const query = next === undefined ? '' : `?next=${encodeURIComponent(next)}`;
      return reply.redirect(`${basePath(config)}/auth/login${query}`, 307);
    },
  );

  app.get(
    '/api/v2/auth/logout',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'logout',
        tags: ['Authentication'],
        summary: 'End the session and redirect to the login page',
        response: LOGOUT_REDIRECT,
      },
    },
    async (request, reply) => {
      const { token, fromCookie } = presentedToken(request);
      const toLoginPage = () => reply.redirect(`${basePath(config)}/auth/login`, 307);
      // Another site may send a browser here with its cookie. That must not end the session.
      if (fromCookie && !mayCarryCookie(request)) return toLoginPage();
      const principal = await sessions.authenticate(token ?? '');
      if (typeof principal !== 'string') {
        request.maybePrincipal = principal;
        await sessions.logout(principal, actorOf(request));
      }
      reply.clearCookie(SESSION_COOKIE, cookieOptions(config));
      // A program that logs out has no browser to redirect.
      const elsewhere =
        typeof principal !== 'string' && fromCookie
          ? await singleSignOn?.logoutUrl(principal, loginPageUrl(config))
          : undefined;
      return elsewhere === undefined ? toLoginPage() : reply.redirect(elsewhere.href, 307);
    },
  );
}

/** The URL of the login page, with the host that the provider knows. */
const loginPageUrl = (config: Config): string =>
  config.auth.oidc.redirectUrl.replace(new RegExp(`${OIDC_CALLBACK_PATH}$`), '/auth/login');

/**
 * Cookie rules (b) and (c): a page of another site may get a token, but must not set a session cookie in the browser.
 */
function mayCarryCookie(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}
