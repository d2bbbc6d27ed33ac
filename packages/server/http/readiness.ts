import { ApiError } from './errors.ts';
import type { App } from './typed-app.ts';

/** `cause` is for the log of the operator, `advice` for the caller of the probe. */
export type Trouble = { cause: string; advice: string };

/** Why this process does not serve yet, or null when it serves. */
export type Readiness = {
  reason(): string | null;
  /** Each probe calls this. It returns why the process, which serves reads, cannot do its work. */
  trouble?(): Promise<Trouble | null> | null;
  /** A warning about a process that is ready. Every caller sees it. */
  note?(): string | undefined | Promise<string | undefined>;
};

/**
 * Refuses requests until the process is ready. Without the schema, every answer except those of the probes would be an
 * internal error.
 */
export function refuseUntilReady(app: App, readiness: Readiness): void {
  app.addHook('onRequest', async (request) => {
    if (['/healthz', '/readyz'].includes(request.routeOptions.url ?? '')) return;
    const reason = readiness.reason();
    if (reason !== null) throw new ApiError('not_ready', reason, { 'retry-after': '1' });
  });
}
