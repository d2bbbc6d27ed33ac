import type { RunningServer } from '@svc/server/server.ts';
import { CliError, messageOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import { refuseBadConfiguration, startControlPlane } from '../start-server.ts';
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
  server = await startControlPlane({ config, warnings });
  const failure = server.ready.then(
    () => stop.requested.then(() => undefined),
    (error: unknown) => ({ error }),
  );
  const failed = await Promise.race([failure, stop.requested.then(() => undefined)]);
  await server.close();
  stop.dispose();
  if (failed) {
    await refuseBadConfiguration(failed.error);
    throw new CliError(`the control plane cannot get ready: ${messageOf(failed.error)}`, { cause: failed.error });
  }
}
