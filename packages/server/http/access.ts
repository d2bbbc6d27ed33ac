/**
 * Access control of routes. Every route declares in `config.access` who may call it. A route without this declaration
 * fails at boot, so a forgotten check cannot reach production. The check runs before the body is read. The order is
 * 401, 403, validation.
 */
import '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isPermission } from '../auth/permissions.ts';
import type { Permission } from '../auth/permissions.ts';
import { isLoopbackHost } from '../config/address.ts';
import { clientAddress } from '../auth/client-address.ts';
import type { ProxyTrust } from '../auth/client-address.ts';
import type { Principal } from '../auth/principal.ts';
import { looksLikeServiceToken } from '../auth/service-tokens.ts';
import type { AuthenticationFault, Sessions } from '../auth/sessions.ts';
import type { Actor } from '../db/identity/audit-log.ts';
import type { Database, TenantDb } from '../db/database.ts';
import { ApiError } from './errors.ts';
import { API_VERSION } from './openapi/api-version.ts';

/** `public`: no login is needed. `user`: any logged-in caller. Otherwise: the permission that the caller must have. */
export type Access = 'public' | 'user' | Permission;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** Tells clients without a token which version of the API they have reached. Airflow answers these clients. */
    announcesVersion?: boolean;
  }
  interface FastifyRequest {
    clientIp: string;
    maybePrincipal: Principal | null;
  }
}

export const SESSION_COOKIE = '_token';

const FAULTS: Record<AuthenticationFault, () => ApiError> = {
  expired: () =>
    new ApiError('token_expired', 'the token has expired: log in again, or renew tokens before they expire'),
  invalid: () => new ApiError('token_invalid', 'the token is not valid here: log in again with POST /auth/token'),
  ended: () => new ApiError('session_ended', 'this session has ended: log in again with POST /auth/token'),
  tenant_disabled: () => new ApiError('tenant_disabled', TENANT_DISABLED),
  service_token_unknown: () =>
    new ApiError('token_invalid', 'no service account has this token: it was revoked, replaced or never issued'),
  service_token_expired: () =>
    new ApiError(
      'token_expired',
      'the token of this service account has expired: "svc service-accounts rotate" gives it a new one',
    ),
};

export const TENANT_DISABLED = 'this tenant is disabled: a platform administrator can enable it';

export type AccessOptions = {
  sessions: Sessions;
  proxies: ProxyTrust;
  /** Receives every valid token, with its user. */
  onAuthenticated?(token: string, principal: Principal): void;
  /**
   * With authentication off in development, returns the administrator as which every request acts. Otherwise returns
   * null.
   */
  everybodyIs(): Principal | null;
};

/** Must be called before any route is registered. */
export function requireAccessDeclarations(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (isLibraryRoute(route)) route.config = { ...route.config, access: 'public' };
    if (route.config?.access === undefined)
      throw new Error(`route ${String(route.method)} ${route.url} does not declare config.access`);
  });
}

export function installAccessControl(app: FastifyInstance, options: AccessOptions): void {
  const { proxies, everybodyIs } = options;
  app.decorateRequest('clientIp', '');
  app.decorateRequest('maybePrincipal', null);

  app.addHook('onRequest', async (request) => {
    request.clientIp = clientAddress(request.raw, proxies);
    const access = request.routeOptions.config.access;
    if (request.is404 || access === 'public') return;
    const everybody = everybodyIs();
    if (everybody) refuseOtherSites(request);
    request.maybePrincipal = everybody ?? (await authenticate(request, options));
    if (access === undefined) throw new Error('unreachable: a route without access does not register');
    if (access !== 'user' && !request.maybePrincipal.permissions.has(access)) throw permissionDenied(request, access);
  });
}

/** True for CORS preflights, which carry no credentials, and for the static files of the API reference. */
const isLibraryRoute = (route: { method: string | string[]; url: string }): boolean =>
  route.method === 'OPTIONS' || route.url === '/docs' || route.url.startsWith('/docs/');

async function authenticate(request: FastifyRequest, { sessions, onAuthenticated }: AccessOptions): Promise<Principal> {
  const { token, fromCookie } = presentedToken(request);
  if (token === undefined) {
    throw new ApiError(
      'not_authenticated',
      'send a token as "Authorization: Bearer <token>"; POST /auth/token issues one',
      request.routeOptions.config.announcesVersion ? { 'x-api-version': API_VERSION } : {},
    );
  }
  if (fromCookie) refuseForeignWrite(request);
  if (fromCookie && looksLikeServiceToken(token))
    throw new ApiError(
      'token_invalid',
      'the token of a service account is for the Authorization header, not for a cookie',
    );
  const principal = await sessions.authenticate(token);
  if (typeof principal === 'string') throw FAULTS[principal]();
  onAuthenticated?.(token, principal);
  return principal;
}

/**
 * Returns the token of the request. An Authorization header wins over the cookie. A cookie that a third party planted
 * must not speak for a script that sends its own token.
 */
export function presentedToken(request: FastifyRequest): { token: string | undefined; fromCookie: boolean } {
  const header = request.headers.authorization;
  if (header !== undefined) return { token: /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '', fromCookie: false };
  return { token: request.cookies[SESSION_COOKIE], fromCookie: true };
}

/**
 * Refuses a cookie-authenticated write that does not come from one of our pages. Browsers attach the cookie to requests
 * from any page.
 */
function refuseForeignWrite(request: FastifyRequest): void {
  if (['GET', 'HEAD', 'OPTIONS'].includes(request.method)) return;
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  const ours =
    site === undefined ? origin !== undefined && hostOf(origin) === request.headers.host : site === 'same-origin';
  if (!ours)
    throw new ApiError(
      'cross_site_request',
      'a write with the session cookie must come from this site: send a bearer token instead',
    );
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/**
 * Refuses requests from other sites while authentication is off. In that mode, only the rules of the browser protect
 * this server from a page that the developer visits. Such a page may post here. It may also point its own host name at
 * this machine, and then read answers as well.
 */
function refuseOtherSites({ headers }: FastifyRequest): void {
  const sites = [`http://${headers.host}`, ...(headers.origin === undefined ? [] : [headers.origin])];
  if (!sites.every((site) => isLoopbackHost(URL.parse(site)?.hostname ?? '')))
    throw new ApiError('cross_site_request', 'auth.dev_no_auth serves this machine only: call it as localhost');
}

function permissionDenied(request: FastifyRequest, permission: Permission): ApiError {
  // The web UI recognises exactly "Forbidden" and stops asking. Other clients get the name of the missing permission.
  const detail = request.routeOptions.url?.startsWith('/ui/') ? 'Forbidden' : `missing permission ${permission}`;
  request.log.warn({ code: 'SVC6001', user: request.maybePrincipal?.email, permission }, 'permission denied');
  return new ApiError('permission_denied', detail);
}

/** Returns the caller of a route that is not public. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.maybePrincipal) throw new Error('unreachable: this route is public');
  return request.maybePrincipal;
}

/** Returns the caller of a route that serves only people, such as favourites or a password change. */
export function personOf(request: FastifyRequest): Principal {
  const principal = principalOf(request);
  if (principal.isServiceAccount)
    throw new ApiError('people_only', `${principal.email} is a service account: log in as a user for this`);
  return principal;
}

/**
 * Refuses a caller that lacks one of these permissions. A caller that grants a role must have every permission in it,
 * so no caller can create a more powerful one.
 */
export function requireAllOf(request: FastifyRequest, permissions: readonly string[]): void {
  const held = principalOf(request).permissions;
  const missing = permissions.filter(isPermission).find((permission) => !held.has(permission));
  if (missing !== undefined) throw permissionDenied(request, missing);
}

/** Checks a second permission, for data that a route shows in addition to its main subject. */
export function requirePermission(request: FastifyRequest, permission: Permission): void {
  if (!principalOf(request).permissions.has(permission)) throw permissionDenied(request, permission);
}

/** Returns the database scoped to the tenant of the caller. */
export const databaseOf = (request: FastifyRequest, db: Database): TenantDb => db.tenant(principalOf(request).tenantId);

export const actorOf = (request: FastifyRequest): Actor => ({
  name: principalOf(request).email,
  clientIp: request.clientIp,
  requestId: request.id,
});
