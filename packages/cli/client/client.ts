/** Calls to the HTTP API of a control plane. Every failure is a `CliError` with its exit code. */
import { VERSION } from '../version.ts';
import { refusal, unreachable } from './problems.ts';

export type ClientOptions = {
  /** Without a closing slash. */
  readonly server: string;
  readonly token?: string | undefined;
  /** Where the token came from, for the message when it is refused. */
  readonly tokenFrom?: string | undefined;
};

export type Client = {
  readonly server: string;
  readonly token: string | undefined;
  get<T>(path: string, query?: Record<string, string | number>): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  delete(path: string): Promise<void>;
  /** Every entry of a list, page by page. `name` is the array's name in the answer. */
  list<T>(path: string, name: string): Promise<T[]>;
};

const TIMEOUT_MS = 30_000;
const PAGE = 500;

export function createClient(options: ClientOptions): Client {
  const { server, token } = options;

  async function call(method: string, path: string, body?: unknown): Promise<string> {
    const request = new Request(`${server}${path}`, {
      method,
      redirect: 'manual', // followed, the token would go to wherever the answer points
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        accept: 'application/json',
        'user-agent': `svc/${VERSION}`,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    let response: Response;
    let text: string;
    try {
      response = await fetch(request);
      text = await response.text();
    } catch (error) {
      throw unreachable(server, error);
    }
    const isJson = text === '' || (response.headers.get('content-type') ?? '').includes('json');
    if (!response.ok || !isJson) throw refusal({ server, response, body: text, tokenFrom: options.tokenFrom });
    return text;
  }

  const get: Client['get'] = (path, query = {}) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
    return parsed(call('GET', parameters.size === 0 ? path : `${path}?${parameters.toString()}`));
  };

  return {
    server,
    token,
    get,
    post: (path, body) => parsed(call('POST', path, body)),
    patch: (path, body) => parsed(call('PATCH', path, body)),
    delete: async (path) => void (await call('DELETE', path)),
    async list<T>(path: string, name: string): Promise<T[]> {
      const entries: T[] = [];
      for (;;) {
        const page = await get<Record<string, unknown>>(path, { limit: PAGE, offset: entries.length });
        const found = page[name] as T[];
        entries.push(...found);
        // An empty page ends it too: entries deleted meanwhile would leave the total out of reach.
        if (found.length === 0 || entries.length >= Number(page['total_entries'])) return entries;
      }
    },
  };
}

async function parsed<T>(text: Promise<string>): Promise<T> {
  const body = await text;
  return (body === '' ? undefined : JSON.parse(body)) as T;
}
