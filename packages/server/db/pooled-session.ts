/**
 * A session that lasts for one transaction. Behind a connection pooler in transaction mode (PgBouncer), the next
 * transaction may have another backend, which other programs use as well.
 *
 * - Settings are made in each transaction and end with it. A single statement gets its own transaction: the three texts
 *   are sent together and cost no additional round trip.
 * - No statement is prepared by name, because another client may have used the name in the same backend.
 */

export type PooledSession = {
  /** Returns the text to send for a statement that begins a transaction. Undefined for any other statement. */
  beginning(sql: string): string | undefined;
  /** The text before a single statement. */
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
  // The transaction's own settings come last, so they win.
  const beginning = (sql: string): string | undefined => {
    const [, head, rest = ''] = /^((?:begin|start transaction)[^;]*)(;[^]*)?$/.exec(sql) ?? [];
    return head === undefined ? undefined : [head, ...local].join('; ') + rest;
  };
  return { beginning, begin: ['begin', ...local].join('; ') };
}
