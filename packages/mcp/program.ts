import { createBearerCheck } from './control-plane/bearer-check.ts';
import { createLimit } from './control-plane/limit.ts';
import { createLog } from './log.ts';
import type { Log } from './log.ts';
import { isLoopback } from './loopback.ts';
import { HELP, UsageError, parseCommand } from './options.ts';
import type { Options } from './options.ts';
import { createToolServer } from './tool-server.ts';
import { serveOverHttp } from './transports/http.ts';
import { serveOverStdio } from './transports/stdio.ts';
import { VERSION } from './version.ts';

/** Parallel requests to the control plane of all callers together. By default it has 25 database connections. */
const REQUESTS_AT_ONCE = 32;
/** Each may need a hundred megabytes while it is read. */
const HEAVY_AT_ONCE = 3;

async function main(): Promise<number> {
  const command = parseCommand(process.argv.slice(2), process.env);
  switch (command.kind) {
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      return 0;
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'run':
      await run(
        command.options,
        createLog((line) => void process.stderr.write(line)),
      );
      return 0;
  }
}

async function run(options: Options, log: Log): Promise<void> {
  const { server } = options;
  const { protocol, hostname } = new URL(server);
  if (protocol === 'http:' && !isLoopback(hostname)) log.warn('tokens can be read on the way: plain http', { server });
  const shared = { server, limit: createLimit(REQUESTS_AT_ONCE), heavy: createLimit(HEAVY_AT_ONCE), log };
  const stop = Promise.withResolvers<string>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.resolve(signal));
  if (options.transport === 'stdio') {
    if (options.token === undefined) log.warn('SVC_TOKEN is not set: the control plane will refuse every call');
    const { token } = options;
    const createServer = () => createToolServer({ ...shared, token, tokenSource: 'environment' });
    log.info('serving on standard input and output', { server, version: VERSION });
    await Promise.race([serveOverStdio({ streams: process, createServer, log }), stop.promise]);
    return;
  }
  const createServer = (token: string) => createToolServer({ ...shared, token, tokenSource: 'request' });
  const http = await serveOverHttp({
    listen: options.listen,
    createServer,
    checkBearer: createBearerCheck(shared),
    log,
  });
  log.info('listening', { url: `${http.url}/mcp`, server, version: VERSION });
  const signal = await stop.promise;
  log.info('stopping', { signal });
  await http.close();
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`svc-mcp: ${isUsage ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
// The explicit exit ends a finished process even if a connection to the control plane is idle.
process.exit();
