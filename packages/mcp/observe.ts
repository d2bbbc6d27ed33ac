/**
 * Wraps every tool call and every read of a resource: creates the caller's view of the control plane, and writes one
 * log line.
 */
import { ProtocolError } from '@modelcontextprotocol/server';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { createControlPlane } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/client.ts';
import { ControlPlaneError } from './control-plane/failures.ts';
import type { TokenSource } from './control-plane/failures.ts';
import type { Limit } from './control-plane/limit.ts';
import type { Log } from './log.ts';

export type ToolServerOptions = {
  /** The origin of `/api/v2`, without a final slash. */
  server: string;
  token: string | undefined;
  tokenSource: TokenSource;
  /** Limits parallel requests to the control plane of all callers together. */
  limit: Limit;
  /** Limits parallel answers of many megabytes. */
  heavy: Limit;
  log: Log;
};

export type Observed = {
  mcp: McpServer;
  options: ToolServerOptions;
  ctx: ServerContext;
  what: string;
  /** Ids, but never the searched text. */
  about: Record<string, string>;
};

export async function observe<T>(call: Observed, work: (controlPlane: ControlPlane) => Promise<T>): Promise<T> {
  const { mcp, options, ctx, what, about } = call;
  const { server, token, tokenSource, limit, log } = options;
  const { signal } = ctx.mcpReq;
  const controlPlane = createControlPlane({ server, token, tokenSource, limit, signal });
  const start = performance.now();
  let outcome = 'ok';
  try {
    return await work(controlPlane);
  } catch (error) {
    if (error instanceof ControlPlaneError) outcome = error.kind;
    else if (error instanceof ProtocolError) outcome = 'invalid';
    else if (signal.aborted) outcome = 'cancelled';
    else {
      outcome = 'internal_error';
      log.error('internal error', {
        what,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      throw new Error('svc-mcp has an internal error and cannot answer this; its operator finds it in its log', {
        cause: error,
      });
    }
    throw error;
  } finally {
    const client = mcp.server.getClientVersion()?.name;
    const ms = Math.round(performance.now() - start);
    log.info('call', { what, ...about, client, outcome, requests: controlPlane.requests(), ms });
  }
}
