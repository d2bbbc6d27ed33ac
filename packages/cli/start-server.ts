import type { RunningServer, ServerOptions } from '@svc/server/server.ts';
import { CliError, EXIT, messageOf, systemCode, usageError } from './cli-error.ts';

/** Starts the control plane. Every failure that a person can fix becomes a plain message. */
export async function startControlPlane(options: ServerOptions): Promise<RunningServer> {
  // Loaded here, because it takes long, and `svc config` and the client commands do not need it.
  const { startServer } = await import('@svc/server/server.ts');
  try {
    return await startServer(options);
  } catch (error) {
    await refuseBadConfiguration(error);
    const code = systemCode(error);
    if (code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      const message = messageOf(error);
      const where = message.startsWith('server.')
        ? message
        : `server.http_addr: cannot listen on ${options.config.server.httpAddr} (${message})`;
      throw new CliError(`cannot start:\n  - ${where}`, { exitCode: EXIT.usage, cause: error });
    }
    throw error;
  }
}

/** Throws a usage error (exit 2) for a configuration that the operator must change. Returns for any other error. */
export async function refuseBadConfiguration(error: unknown): Promise<void> {
  const { BootError } = await import('@svc/server/server.ts');
  if (error instanceof BootError) throw usageError(error.message.replace(/^svc cannot/, 'cannot'));
}
