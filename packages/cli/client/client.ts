/** The HTTP client of commands. Every failure is a `CliError` with its exit code. */
import { createApiClient } from '@svc/client/client.ts';
import type { ApiClient } from '@svc/client/client.ts';
import { VERSION } from '../version.ts';
import type { CommandAnnouncement } from './command-announcement.ts';
import { cliErrorOf } from './problems.ts';

export type ClientOptions = {
  /** The URL of the server without a final slash. */
  readonly server: string;
  readonly token?: string | undefined;
  /** The origin of the token, for the message if it is refused. */
  readonly tokenFrom?: string | undefined;
  /**
   * Announces the command with its first call. Calls before the command, such as the renewal of a login, do not
   * announce it.
   */
  readonly announcement?: CommandAnnouncement | undefined;
};

export type Client = ApiClient & { readonly token: string | undefined };

export function createClient({ server, token, tokenFrom, announcement }: ClientOptions): Client {
  const api = createApiClient({
    server,
    token,
    userAgent: `svc/${VERSION}`,
    ...(announcement && { headers: announcement.take }),
    explain: (failure) =>
      cliErrorOf({ server, failure, tokenFrom, isOfService: token?.startsWith('svc_sa_') === true }),
  });
  return { ...api, token };
}
