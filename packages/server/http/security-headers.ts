/**
 * What browsers are told about every answer. It is the same for all, so helmet makes it once: made anew for each request, as
 * its Fastify plugin does, it was most of what small collections of garbage had to keep, 8 to 14 ms each instead of 2.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { App } from './typed-app.ts';

const A_YEAR_SECONDS = 31_536_000;

/** Our own pages load nothing from elsewhere and run no inline script. */
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

/** `isSecure`: this server speaks TLS itself, and browsers shall not come by plain HTTP any more. Behind a proxy that is the proxy's to say. */
export function installSecurityHeaders(app: App, { isSecure }: { isSecure: boolean }): void {
  const headers = makeHeaders(isSecure);
  app.addHook('onRequest', (_request, reply, next) => {
    // On the response itself: answers that bypass the framework carry them, too.
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
