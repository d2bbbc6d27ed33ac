/**
 * Security headers of every answer. They are equal for all answers, so helmet computes them once. Its Fastify plugin
 * computes them for each request, which costs garbage collection time.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { App } from './typed-app.ts';

const A_YEAR_SECONDS = 31_536_000;

/** Our own pages load nothing from other hosts and run no inline script. */
const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  frameAncestors: ["'none'"],
  formAction: ["'self'"],
  upgradeInsecureRequests: null,
};

/**
 * `isSecure` means that this server speaks TLS itself. Browsers then must not use plain HTTP any more. If a proxy
 * terminates TLS, the proxy decides this.
 */
export function installSecurityHeaders(app: App, { isSecure }: { isSecure: boolean }): void {
  const headers = makeHeaders(isSecure);
  app.addHook('onRequest', (_request, reply, next) => {
    // The headers are set on the raw response, so answers that bypass the framework have them as well.
    for (const [name, value] of headers) reply.raw.setHeader(name, value);
    next();
  });
}

function makeHeaders(isSecure: boolean): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  const recorder: Pick<ServerResponse, 'removeHeader'> & { setHeader(name: string, value: string): void } = {
    setHeader: (name, value) => void headers.set(name, value),
    removeHeader: () => {},
  };
  const secure = helmet({
    contentSecurityPolicy: { directives: CONTENT_SECURITY_POLICY },
    strictTransportSecurity: isSecure && { maxAge: A_YEAR_SECONDS, includeSubDomains: false },
    xFrameOptions: { action: 'deny' },
  });
  secure({} as IncomingMessage, recorder as ServerResponse, (error?: unknown) => {
    if (error !== undefined) throw error;
  });
  return headers;
}
