// Calls of the control plane with the visitor's session.
/** @import { Api } from '../browser.d.ts' */

const base = document.baseURI;

/** @param {string} path */
const pageOf = (path) => new URL(path, base).href;

export class Failure extends Error {
  /**
   * @param {number} status 0 without an answer
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * What to tell of something thrown, which may be anything.
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Asked before leaving for the login page: what is not saved yet would be lost. */
let mayLeave = () => true;
/** @param {() => boolean} decide */
export const onSessionEnd = (decide) => {
  mayLeave = decide;
};

/** @typedef {{ query?: Record<string, string>, body?: object, headers?: Record<string, string> }} Input */

/**
 * Only what the server agreed to comes back.
 * @param {string} method
 * @param {string} path
 * @param {Input} [input]
 * @returns {Promise<Response>}
 */
async function send(method, path, { query = {}, body, headers = {} } = {}) {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  let response;
  try {
    response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new Failure(0, 'The control plane does not answer. Is it running?');
  }
  if (response.ok) return response;
  /** @type {{ detail?: string }} */
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401) {
    if (mayLeave()) {
      const here = location.pathname + location.search;
      location.replace(new URL(`api/v2/auth/login?next=${encodeURIComponent(here)}`, base));
      return new Promise(() => {}); // the page is about to go
    }
    throw new Failure(401, 'Your session has ended. Sign in in another tab, then save again here.');
  }
  if (response.status === 403) throw new Failure(403, `You may not do this: ${problem.detail ?? 'not permitted'}.`);
  throw new Failure(response.status, problem.detail ?? `HTTP ${response.status}`);
}

/**
 * The caller says what the answer is; the server's tests hold it to its own document.
 * @template Answer
 * @param {string} method
 * @param {string} path
 * @param {Input} [input]
 * @returns {Promise<Answer>}
 */
const call = async (method, path, input) => (await send(method, path, input)).json();

/** @param {string} dagId */
const dagPath = (dagId) => `api/v2/dags/${encodeURIComponent(dagId)}`;
/** @type {(dagId: string, runId: string) => string} */
const runPath = (dagId, runId) => `${dagPath(dagId)}/dagRuns/${encodeURIComponent(runId)}`;

/** @type {Api} */
export const api = {
  workspace: () => call('GET', 'api/v2/ide/workspace'),
  read: (path) => call('GET', 'api/v2/ide/file', { query: { path } }),
  write: (path, content, etag) =>
    call('PUT', 'api/v2/ide/file', { query: { path }, body: { content }, headers: { 'if-match': etag } }),
  create: (path, content) =>
    call('PUT', 'api/v2/ide/file', { query: { path }, body: { content }, headers: { 'if-none-match': '*' } }),
  rename: async (from, to) => {
    await send('POST', 'api/v2/ide/rename', { body: { from, to } });
  },
  remove: async (path, etag) => {
    /** @type {Record<string, string>} */
    const headers = etag === undefined ? {} : { 'if-match': etag };
    await send('DELETE', 'api/v2/ide/file', { query: { path }, headers });
  },
  compile: (path) => call('POST', 'api/v2/ide/compile', { body: { path } }),
  dag: (dagId) => call('GET', dagPath(dagId)),
  unpause: (dagId) => call('PATCH', dagPath(dagId), { body: { is_paused: false } }),
  trigger: (dagId) => call('POST', `${dagPath(dagId)}/dagRuns`, { body: { logical_date: null } }),
  run: (dagId, runId) => call('GET', runPath(dagId, runId)),
  tasks: (dagId) => call('GET', `${dagPath(dagId)}/tasks`),
  startTest: (order) => call('POST', 'api/v2/ide/test', { body: order }),
  test: (logFrom) => call('GET', 'api/v2/ide/test', { query: { log_from: String(logFrom) } }),
  stopTest: async () => {
    await send('DELETE', 'api/v2/ide/test');
  },
};

/** @param {string} dagId */
export const dagPage = (dagId) => pageOf(`dags/${encodeURIComponent(dagId)}`);
/** @type {(dagId: string, runId: string) => string} */
export const runPage = (dagId, runId) => `${dagPage(dagId)}/runs/${encodeURIComponent(runId)}`;
