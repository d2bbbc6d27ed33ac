import type { RunningServer, ServerOptions } from '@svc/server/server.ts';
import { CliError, EXIT, messageOf, systemCode, usageError } from './cli-error.ts';

/** Starts the control plane; everything a person can mend becomes a plain message. */
export async function startControlPlane(options: ServerOptions): Promise<RunningServer> {
  // Loaded here and not on top: it takes most of a second, which `svc config` and the client commands need not pay.
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

/** Throws what the operator has to change, exit 2; returns for any other error. */
export async function refuseBadConfiguration(error: unknown): Promise<void> {
  const { BootError } = await import('@svc/server/server.ts');
  if (error instanceof BootError) throw usageError(error.message.replace(/^svc cannot/, 'cannot'));
}
