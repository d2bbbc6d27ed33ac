/**
 * Who may call a route. Every route declares it in `config.access`; one that does not fails at boot, so a forgotten check
 * cannot reach production. The check runs before the body is read: first 401, then 403, then validation.
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

/** `public`: anybody. `user`: anybody logged in. Otherwise the permission the caller must hold. */
export type Access = 'public' | 'user' | Permission;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
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
  /** Told every token that was good, and whose it is. */
  onAuthenticated?(token: string, userId: string): void;
  /** In development with authentication off: the administrator every request acts as. Null otherwise. */
  everybodyIs(): Principal | null;
};

/** To be called before any route is registered. */
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

/** CORS preflights, which carry no credentials, and the static files of the API reference. */
const isLibraryRoute = (route: { method: string | string[]; url: string }): boolean =>
  route.method === 'OPTIONS' || route.url === '/docs' || route.url.startsWith('/docs/');

async function authenticate(request: FastifyRequest, { sessions, onAuthenticated }: AccessOptions): Promise<Principal> {
  const { token, fromCookie } = presentedToken(request);
  if (token === undefined) {
    throw new ApiError(
      'not_authenticated',
      'send a token as "Authorization: Bearer <token>"; POST /auth/token issues one',
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
  onAuthenticated?.(token, principal.userId);
  return principal;
}

/** An Authorization header always wins: a cookie planted by somebody else must not speak for a script that names its token. */
export function presentedToken(request: FastifyRequest): { token: string | undefined; fromCookie: boolean } {
  const header = request.headers.authorization;
  if (header !== undefined) return { token: /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '', fromCookie: false };
  return { token: request.cookies[SESSION_COOKIE], fromCookie: true };
}

/** Browsers attach the cookie to requests of any page; a write counts only when the page was ours. */
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
 * With authentication off nothing but the browser's rules stands between a page the developer visits and this server:
 * such a page may post here, or point its own name at this machine and then read as well.
 */
function refuseOtherSites({ headers }: FastifyRequest): void {
  const sites = [`http://${headers.host}`, ...(headers.origin === undefined ? [] : [headers.origin])];
  if (!sites.every((site) => isLoopbackHost(URL.parse(site)?.hostname ?? '')))
    throw new ApiError('cross_site_request', 'auth.dev_no_auth serves this machine only: call it as localhost');
}

function permissionDenied(request: FastifyRequest, permission: Permission): ApiError {
  // The web UI recognises exactly "Forbidden" and stops asking; elsewhere the name of what is missing helps more.
  const detail = request.routeOptions.url?.startsWith('/ui/') ? 'Forbidden' : `missing permission ${permission}`;
  request.log.warn({ user: request.maybePrincipal?.email, permission }, 'permission denied');
  return new ApiError('permission_denied', detail);
}

/** The caller of a route that is not public. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.maybePrincipal) throw new Error('unreachable: this route is public');
  return request.maybePrincipal;
}

/** For what only people have: favourites, a password. */
export function personOf(request: FastifyRequest): Principal {
  const principal = principalOf(request);
  if (principal.isServiceAccount)
    throw new ApiError('people_only', `${principal.email} is a service account: log in as a user for this`);
  return principal;
}

/** Whoever gives a role has what is in it: nobody makes somebody who may do more. */
export function requireAllOf(request: FastifyRequest, permissions: readonly string[]): void {
  const held = principalOf(request).permissions;
  const missing = permissions.filter(isPermission).find((permission) => !held.has(permission));
  if (missing !== undefined) throw permissionDenied(request, missing);
}

/** For what a route shows beside the thing that its own permission is about. */
export function requirePermission(request: FastifyRequest, permission: Permission): void {
  if (!principalOf(request).permissions.has(permission)) throw permissionDenied(request, permission);
}

/** The database as the caller may see it: their tenant and nothing else. */
export const databaseOf = (request: FastifyRequest, db: Database): TenantDb => db.tenant(principalOf(request).tenantId);

export const actorOf = (request: FastifyRequest): Actor => ({
  name: principalOf(request).email,
  clientIp: request.clientIp,
  requestId: request.id,
});
