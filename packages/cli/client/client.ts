/** The control plane as commands call it. Every failure is a `CliError` with its exit code. */
import { createApiClient } from '@svc/client/client.ts';
import type { ApiClient } from '@svc/client/client.ts';
import { VERSION } from '../version.ts';
import type { CommandAnnouncement } from './command-announcement.ts';
import { cliErrorOf } from './problems.ts';

export type ClientOptions = {
  /** Without a closing slash. */
  readonly server: string;
  readonly token?: string | undefined;
  /** Where the token came from, for the message when it is refused. */
  readonly tokenFrom?: string | undefined;
  /** The command that the calls are for; those before it (a login that is renewed) are told without. */
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
