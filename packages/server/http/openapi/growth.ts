/**
 * What an answer grows with. An operation with a `limit` has a page of at most 1,000 entries. Every other operation
 * whose answer has a list says in `config.grows` what its worst case is. The document shows it, so that a caller knows,
 * and so that tests know what to ask for (packages/testing/event-loop/largest-requests.ts).
 */
export const GROWTH = {
  body: 'the entries of the body, which has at most 1 MiB',
  page: '`page_limit` of the body, at most 1,000',
  dag: 'tags, versions and people that one DAG names',
  tasks: 'the tasks of a DAG, whose specification has at most 16 MiB',
  instances: 'the task instances of a run',
  tries: 'the tries of a task instance',
  events: 'the assets, DAGs and events of one asset, run or partition',
  days: 'the days or runs of a time span, at most 10,000',
  dags: 'the DAGs of the tenant',
  log: 'nothing: it is sent block by block',
  files: 'the files of the workspace',
  test: 'the task instances or tests of one test from the editor, whose result has at most 16 MiB',
  installation: 'what the operator has installed and configured',
} as const;

export type Growth = keyof typeof GROWTH;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The worst case of an answer with a list that no `limit` bounds. */
    grows?: Growth;
  }
}
