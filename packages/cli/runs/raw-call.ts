/** Calls whose answer is no JSON document to be read whole, and calls by methods that few commands need. */
import type { Client } from '../client/client.ts';
import { refusal, unreachable } from '../client/problems.ts';
import { VERSION } from '../version.ts';

/** The answer with its body unread. Every failure is a `CliError`, as those of the client are. */
export async function openAnswer(
  client: Client,
  call: { path: string; method?: 'GET' | 'PUT'; accept?: string; signal?: AbortSignal | undefined },
): Promise<Response> {
  const { path, method = 'GET', accept = 'application/json', signal } = call;
  const { server, token } = client;
  let response: Response;
  try {
    response = await fetch(`${server}${path}`, {
      method,
      redirect: 'manual', // followed, the token would go to wherever the answer points
      ...(signal !== undefined && { signal }),
      headers: {
        accept,
        'user-agent': `svc/${VERSION}`,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
  } catch (error) {
    throw unreachable(server, error);
  }
  if (response.ok) return response;
  const body = await response.text().catch(() => '');
  throw refusal({ server, response, body, tokenFrom: undefined });
}

/** Text as it arrives: a log may be larger than memory. */
export async function* textOf(client: Client, response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  try {
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) yield text;
  } catch (error) {
    throw unreachable(client.server, error);
  }
}
