/** The statements that this process sends to Postgres while `work` is under way, in their order. */
import pg from 'pg';

export async function sentStatements(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const original = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  const recording = function (this: pg.Client, ...args: unknown[]): unknown {
    const [query] = args as [string | { text: string }];
    sent.push(typeof query === 'string' ? query : query.text);
    return original.apply(this, args);
  };
  Object.assign(pg.Client.prototype, { query: recording });
  try {
    await work();
  } finally {
    Object.assign(pg.Client.prototype, { query: original });
  }
  return sent;
}
