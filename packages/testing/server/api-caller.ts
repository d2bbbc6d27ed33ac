/** The public API of a control plane that runs as users run it, called in somebody's name. */
import { setTimeout as sleep } from 'node:timers/promises';

export type Api = <T = unknown>(method: string, path: string, body?: object) => Promise<T>;

type Credentials = { username: string; password: string; tenant?: string };

export async function tokenOf(url: string, credentials: Credentials): Promise<string> {
  const response = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  if (!response.ok) throw new Error(`login of ${credentials.username}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Also for the web UI's own paths. `server` is asked for its address at each call: one that was restarted may have another. */
export const apiCaller =
  (server: { readonly url: string }, token: string): Api =>
  async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${server.url}${path.startsWith('/ui/') ? '' : '/api/v2'}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
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

const PATIENCE = 100;

/** On an overloaded machine, connections to the database come late, and the API answers 503. All of these calls may be repeated. */
export function patient(api: Api): Api {
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    for (let tries = 0; tries < PATIENCE; tries += 1) {
      try {
        return await api<T>(method, path, body);
      } catch (error) {
        if (!(error instanceof Error) || !error.message.includes(': 503 ')) throw error;
        await sleep(500);
      }
    }
    return api(method, path, body);
  };
}
