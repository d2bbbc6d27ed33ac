/** A client of Airflow's HTTP API: finds the version, authenticates, and reads lists page by page. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SourceError } from '@svc/server/db/imports/airflow/database-source.ts';

export type Json = Record<string, unknown>;

export type RestCredentials = {
  username?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
};

export type RestClient = {
  /** The address without credentials. */
  readonly name: string;
  readonly version: string;
  readonly isV2: boolean;
  readonly usersPath: string;
  /** Yields pages from an offset. Each contains the offset of its first row. */
  pages(path: string, list: string, offset?: number): AsyncGenerator<{ rows: Json[]; offset: number }>;
  /** Returns undefined if the object does not exist. */
  find(path: string): Promise<Json | undefined>;
};

/** The maximum page size in Airflow's default configuration. */
const PAGE = 100;
const TRIES = 3;
const RETRY_MS = 200;
const TIMEOUT_MS = 60_000;

type Answer = { status: number; body: Json };

export async function connectToAirflow(address: string, given: RestCredentials): Promise<RestClient> {
  const url = URL.parse(address);
  if (!url) throw new SourceError('the address of the API is not a URL');
  const credentials: RestCredentials = {
    token: given.token,
    username: url.username === '' ? given.username : decodeURIComponent(url.username),
    password: url.password === '' ? given.password : decodeURIComponent(url.password),
  };
  [url.username, url.password, url.search, url.hash] = ['', '', '', ''];
  const base = url.toString().replace(/\/(api\/v[12]\/?)?$/, '');
  const isV2 = await findApi(base);
  const authorization = await authorize(base, isV2, credentials);
  const root = `${base}/api/${isV2 ? 'v2' : 'v1'}`;
  const ask = (path: string): Promise<Answer> =>
    send(path.startsWith('/auth/') ? `${base}${path}` : `${root}${path}`, authorization ? { authorization } : {});
  const { version } = (await ask('/version')).body;
  const found = async (path: string): Promise<Json> => {
    const { status, body } = await ask(path);
    if (status !== 200) throw refused(path, status, body);
    return body;
  };
  return {
    name: base,
    version: typeof version === 'string' ? version : 'of an unknown version',
    isV2,
    usersPath: isV2 ? '/auth/fab/v1/users' : '/users',
    async *pages(path, list, offset = 0) {
      for (let at = offset; ;) {
        const body = await found(`${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}&offset=${at}`);
        const rows = (Array.isArray(body[list]) ? body[list] : []) as Json[];
        if (rows.length > 0) yield { rows, offset: at };
        at += rows.length;
        if (rows.length === 0 || at >= Number(body['total_entries'] ?? 0)) return;
      }
    },
    async find(path) {
      const { status, body } = await ask(path);
      if (status === 404) return undefined;
      if (status !== 200) throw refused(path, status, body);
      return body;
    },
  };
}

/** Returns true for version 2 of the API. Some servers require a login before they answer. */
async function findApi(base: string): Promise<boolean> {
  for (const isV2 of [true, false]) {
    const { status } = await send(`${base}/api/${isV2 ? 'v2' : 'v1'}/version`, {});
    if (status === 200 || status === 401 || status === 403) return isV2;
  }
  throw new SourceError(`${base} has no Airflow API: neither /api/v2/version nor /api/v1/version is there`);
}

async function authorize(base: string, isV2: boolean, credentials: RestCredentials): Promise<string | undefined> {
  const { token, username, password } = credentials;
  if (token !== undefined) return `Bearer ${token}`;
  if (username === undefined || password === undefined)
    throw new SourceError(
      `who asks ${base}? Give AIRFLOW_USERNAME and AIRFLOW_PASSWORD, or AIRFLOW_TOKEN, in the environment`,
    );
  if (!isV2) return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const { status, body } = await send(
    `${base}/auth/token`,
    { 'content-type': 'application/json' },
    JSON.stringify({ username, password }),
  );
  const given = body['access_token'];
  if (typeof given !== 'string') throw new SourceError(`${base} does not let ${username} in (${status})`);
  return `Bearer ${given}`;
}

const refused = (path: string, status: number, body: Json): SourceError => {
  const detail = typeof body['detail'] === 'string' ? `: ${body['detail'].slice(0, 200)}` : '';
  const advice = status === 401 || status === 403 ? '; the user has to be allowed to read it (role Admin or Op)' : '';
  return new SourceError(`GET ${path.split('?', 1)[0]} answers ${status}${detail}${advice}`);
};

/** Sends a request, and retries errors 5xx, which an Airflow under load returns occasionally. */
async function send(url: string, headers: Record<string, string>, body?: string): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await fetch(url, {
        method: body === undefined ? 'GET' : 'POST',
        headers,
        redirect: 'error', // a redirect could send the credentials elsewhere
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body !== undefined && { body }),
      });
      if (answer.status < 500 || attempt >= TRIES) return { status: answer.status, body: bodyOf(await answer.text()) };
    } catch (error) {
      if (attempt >= TRIES) {
        const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
        throw new SourceError(`${new URL(url).origin} does not answer${cause}`, error);
      }
    }
    await sleep(RETRY_MS * attempt);
  }
}

function bodyOf(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}
