import type { FastifyReply } from 'fastify';
import type { IssuedToken } from '../../auth/sessions.ts';
import type { Config } from '../../config/load.ts';
import { basePath } from '../../config/resolved.ts';
import { SESSION_COOKIE } from '../../http/access.ts';

export function setSessionCookie(reply: FastifyReply, config: Config, token: IssuedToken): void {
  reply.setCookie(SESSION_COOKIE, token.accessToken, { ...cookieOptions(config), maxAge: token.expiresInSeconds });
}

export const cookieOptions = (config: Config) => ({
  httpOnly: true,
  secure: !config.auth.sessionCookieInsecure,
  sameSite: 'lax' as const,
  path: basePath(config) || '/',
});
