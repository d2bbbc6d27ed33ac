// Calls of the control plane with the visitor's session.

const base = document.querySelector('base').href;

export const pageOf = (path) => new URL(path, base).href;

export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Asked before leaving for the login page: what is not saved yet would be lost. */
let mayLeave = () => true;
export const onSessionEnd = (decide) => {
  mayLeave = decide;
};

async function call(method, path, { query = {}, body, headers = {} } = {}) {
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
  if (response.ok) return response.status === 204 ? undefined : response.json();
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

const dagPath = (dagId) => `api/v2/dags/${encodeURIComponent(dagId)}`;
const runPath = (dagId, runId) => `${dagPath(dagId)}/dagRuns/${encodeURIComponent(runId)}`;

export const api = {
  workspace: () => call('GET', 'api/v2/ide/workspace'),
  read: (path) => call('GET', 'api/v2/ide/file', { query: { path } }),
  /** Replaces what has this tag. */
  write: (path, content, etag) =>
    call('PUT', 'api/v2/ide/file', { query: { path }, body: { content }, headers: { 'if-match': etag } }),
  create: (path, content) =>
    call('PUT', 'api/v2/ide/file', { query: { path }, body: { content }, headers: { 'if-none-match': '*' } }),
  rename: (from, to) => call('POST', 'api/v2/ide/rename', { body: { from, to } }),
  remove: (path, etag) =>
    call('DELETE', 'api/v2/ide/file', { query: { path }, headers: etag === undefined ? {} : { 'if-match': etag } }),
  compile: (path) => call('POST', 'api/v2/ide/compile', { body: { path } }),
  dag: (dagId) => call('GET', dagPath(dagId)),
  unpause: (dagId) => call('PATCH', dagPath(dagId), { body: { is_paused: false } }),
  trigger: (dagId) => call('POST', `${dagPath(dagId)}/dagRuns`, { body: { logical_date: null } }),
  run: (dagId, runId) => call('GET', runPath(dagId, runId)),
};

export const dagPage = (dagId) => pageOf(`dags/${encodeURIComponent(dagId)}`);
export const runPage = (dagId, runId) => `${dagPage(dagId)}/runs/${encodeURIComponent(runId)}`;
