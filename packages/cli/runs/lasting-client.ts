import type { Client } from '../client/client.ts';
import { connect } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import type { CliContext } from '../context.ts';

/** Much shorter than the lifetime of any token, and much longer than a call. */
const FRESH_FOR_MS = 60_000;

/**
 * Returns a client for commands that run for hours. It renews a stored login, as every new command does. `first` is an
 * existing client of the command.
 */
export async function lastingClient(
  context: CliContext,
  options: ClientCommandOptions,
  first?: Client,
): Promise<() => Promise<Client>> {
  let client = first ?? (await connect(context, options));
  let connectedAt = performance.now();
  return async () => {
    // A token that was passed explicitly cannot be renewed.
    if (options.token !== undefined || performance.now() - connectedAt < FRESH_FOR_MS) return client;
    client = await connect(context, options);
    connectedAt = performance.now();
    return client;
  };
}
