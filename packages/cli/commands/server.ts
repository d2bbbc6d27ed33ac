import type { RunningServer, ServerOptions } from '@svc/server/server.ts';
import { CliError, EXIT, messageOf, systemCode, usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import { endOnUncaught, listenForStop } from '../stop-signal.ts';
import type { SvcCommand } from '../svc-command.ts';

export function addServerCommand(program: SvcCommand, context: CliContext): void {
  withConfigOptions(program.command('server'))
    .description('Run the control plane')
    .note('SIGTERM and Ctrl-C let requests in flight finish; a second one ends the process at once.')
    .example('with a configuration file', 'svc server --config server.yaml')
    .example(
      'everything from the environment and flags',
      'SVC_AUTH_JWT_SECRET=… SVC_DATABASE_URL=… svc server --server.http-addr 127.0.0.1:8080',
    )
    .action((options: ConfigOptions) => runServer(context, options));
}

async function runServer(context: CliContext, options: ConfigOptions): Promise<void> {
  const stop = listenForStop();
  const { config, warnings } = loadServerConfig(context, options);
  let server: RunningServer | undefined;
  endOnUncaught((error, kind) => {
    if (server) server.logger.fatal({ err: error }, kind);
    else context.stderr.write(`svc: ${kind}: ${messageOf(error)}\n`);
  });
  server = await start({ config, warnings });
  const failure = server.ready.then(
    () => stop.requested.then(() => undefined),
    (error: unknown) => ({ error }),
  );
  const failed = await Promise.race([failure, stop.requested.then(() => undefined)]);
  await server.close();
  stop.dispose();
  if (failed) {
    throw new CliError(`the control plane cannot get ready: ${messageOf(failed.error)}`, { cause: failed.error });
  }
}

/** Starts the control plane; everything a person can mend becomes a plain message. */
export async function start(options: ServerOptions): Promise<RunningServer> {
  // Loaded here and not on top: it takes most of a second, which `svc config` and the client commands need not pay.
  const { BootError, startServer } = await import('@svc/server/server.ts');
  try {
    return await startServer(options);
  } catch (error) {
    if (error instanceof BootError) throw usageError(error.message.replace(/^svc cannot/, 'cannot'));
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
