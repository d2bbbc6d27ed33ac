/**
 * A session that lasts for one transaction: behind a connection pooler in transaction mode (PgBouncer), the next one may be in
 * another backend, which other programs use as well.
 *
 *   - Settings are made in each transaction, and end with it. A statement on its own gets a transaction of its own: the three
 *     texts leave together, and cost no round trip more.
 *   - Nothing is prepared by name: another client may have prepared something else under that name in the backend we are given.
 */

export type PooledSession = {
  /** The text to send for one that begins a transaction; undefined for any other. */
  beginning(sql: string): string | undefined;
  /** What goes before a statement on its own. */
  readonly begin: string;
};

export function createPooledSession(settings: {
  statementTimeoutMs: number;
  idleInTransactionTimeoutMs: number;
  /** Statements `set … = …`, for every session. */
  session: readonly string[];
}): PooledSession {
  const { statementTimeoutMs, idleInTransactionTimeoutMs, session } = settings;
  const local = [
    ...(statementTimeoutMs > 0 ? [`set statement_timeout = ${statementTimeoutMs}`] : []),
    ...(idleInTransactionTimeoutMs > 0
      ? [`set idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}`]
      : []),
    ...session,
  ].map((text) => text.replace(/^set /, 'set local '));
  // What a transaction sets for itself comes last, and wins.
  const beginning = (sql: string): string | undefined => {
    const [, head, rest = ''] = /^((?:begin|start transaction)[^;]*)(;[^]*)?$/.exec(sql) ?? [];
    return head === undefined ? undefined : [head, ...local].join('; ') + rest;
  };
  return { beginning, begin: ['begin', ...local].join('; ') };
}
