import type { Client } from '../client/client.ts';
import { connect } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import type { CliContext } from '../context.ts';

/** Much shorter than any token lives, and much longer than a call takes. */
const FRESH_FOR_MS = 60_000;

/**
 * A client for commands that stay for hours: a stored login is renewed on the way, as it is by every new command. `first`
 * is a client that the command has already.
 */
export async function lastingClient(
  context: CliContext,
  options: ClientCommandOptions,
  first?: Client,
): Promise<() => Promise<Client>> {
  let client = first ?? (await connect(context, options));
  let connectedAt = performance.now();
  return async () => {
    // A token that was given is all there is.
    if (options.token !== undefined || performance.now() - connectedAt < FRESH_FOR_MS) return client;
    client = await connect(context, options);
    connectedAt = performance.now();
    return client;
  };
}
