import { ApiError } from './errors.ts';
import type { App } from './typed-app.ts';

/** `cause` for the operator's log, `advice` for whoever asked. */
export type Trouble = { cause: string; advice: string };

/** Why this process does not serve yet, or null when it does. */
export type Readiness = {
  reason(): string | null;
  /** Looked at by each probe: it serves reads, but cannot do its work. */
  trouble?(): Promise<Trouble | null> | null;
  /** It does, but not all of it is well. Shown to anybody. */
  note?(): string | undefined | Promise<string | undefined>;
};

/** Before the schema is there, every answer but the probes' would be an internal error. */
export function refuseUntilReady(app: App, readiness: Readiness): void {
  app.addHook('onRequest', async (request) => {
    if (['/healthz', '/readyz'].includes(request.routeOptions.url ?? '')) return;
    const reason = readiness.reason();
    if (reason !== null) throw new ApiError('not_ready', reason, { 'retry-after': '1' });
  });
}
