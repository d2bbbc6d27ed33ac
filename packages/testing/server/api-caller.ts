/** The public API of a control plane that runs as users run it, called in somebody's name. */
import { setTimeout as sleep } from 'node:timers/promises';

export type Api = <T = unknown>(method: string, path: string, body?: object) => Promise<T>;

/** An overloaded control plane answers 503 and names the time after which a client asks again. Users' clients do so, too. */
const BUSY = 503;
const PATIENCE_MS = 100_000;
const PAUSE_MS = 500;

/** Sends the request again for as long as the control plane is busy. */
async function untilServed(send: () => Promise<Response>): Promise<Response> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    const response = await send();
    if (response.status !== BUSY || Date.now() > deadline) return response;
    await response.arrayBuffer();
  }
}

type Credentials = { username: string; password: string; tenant?: string };

export async function tokenOf(url: string, credentials: Credentials): Promise<string> {
  const response = await untilServed(() =>
    fetch(`${url}/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    }),
  );
  if (!response.ok) throw new Error(`login of ${credentials.username}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Also for the web UI's own paths. `server` is asked for its address at each call: one that was restarted may have another. */
export const apiCaller =
  (server: { readonly url: string }, token: string): Api =>
  async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await untilServed(() =>
      fetch(`${server.url}${path.startsWith('/ui/') ? '' : '/api/v2'}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };

/** Makes a second tenant. Answers with the API as its administrator calls it. */
export async function secondTenant(server: { readonly url: string; api: Api }): Promise<Api> {
  const [email, password] = ['b@example.com', 'correct horse battery staple'];
  await server.api('POST', '/platform/tenants', { name: 'second', admin_email: email, admin_password: password });
  return apiCaller(server, await tokenOf(server.url, { username: email, password, tenant: 'second' }));
}
