/**
 * Transactions whose statements do not wait for one another. Kysely sends a statement after the answer to the previous
 * one. Here it is sent at once, and Postgres executes the statements in the order in which they were sent. Only answers
 * that decide the next statement cost a round trip: on the path between two tasks, three of eleven are left.
 */
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import type { DatabaseConnection } from 'kysely';
import type { SharedDb } from './database.ts';
import type { AllTables } from './schema.ts';

/**
 * For transactions whose statements reach their rows by keys, whatever the values: planned once per connection.
 * Otherwise Postgres plans them at every execution as soon as the tables have grown, because it overestimates the lists
 * of keys. A kept plan must be good for any size of the tables, so it may only go from key to row. A plan from a time
 * when a table was small would read the whole table.
 */
const BEGIN_WITH_KEPT_PLANS = [
  'begin',
  'set local plan_cache_mode = force_generic_plan',
  ...['seqscan', 'hashjoin', 'mergejoin', 'material'].map((way) => `set local enable_${way} = off`),
].join('; ');

/** Only after the tables have statistics, because a plan made without them must not be kept. */
export const beginning = ({ keepsPlans = false }): string => (keepsPlans ? BEGIN_WITH_KEPT_PLANS : 'begin');

/**
 * A transaction whose statements are sent when they are executed, in that order, without waiting for earlier answers.
 * The code from top to bottom shows the order of the statements:
 *
 *   const dag = tx.send(lockDag(tx.db, dagId));      sent with `begin`
 *   const allowed = tx.send(check(tx.db));           sent after it, in the same round trip
 *   await tx.flush();                                both are answered, or one of them has thrown
 *   const [row] = await tx.commitWith(insert(tx.db)) the last statement and the commit, in one round trip
 */
export type PipelinedTransaction = {
  /** Statements that are executed here are sent at once. */
  readonly db: SharedDb;
  /** Registers statements that were sent: `flush` and `commitWith` wait for them, and report their failure. */
  send<T>(sent: Promise<T>): Promise<T>;
  /**
   * Resolves when everything that was registered before this call is answered, including the beginning. Rejects with
   * the first failure.
   */
  flush(): Promise<void>;
  /**
   * Sends the commit after the given statements, which must have been sent: all of it is one round trip. When one of
   * them fails, nothing is committed. No statement can be sent afterwards. Without this call, the end of the work
   * commits.
   */
  commitWith<T extends readonly unknown[]>(...last: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>;
};

/**
 * `beginning` (`begin`, and other statements without parameters) is sent with the first statements of `work`. The
 * statements that `work` sends before its first answer must therefore not write: if the beginning failed, they would
 * run outside a transaction. (The end of an attempt with prefetched rows does write, and takes that risk: `begin`
 * computes nothing and waits for nothing. It fails only with its connection, like all statements after it.)
 */
export async function inPipelinedTransaction<T>(
  db: SharedDb,
  beginning: string,
  work: (tx: PipelinedTransaction) => Promise<T>,
): Promise<T> {
  return db.getExecutor().provideConnection(async (connection) => {
    const gate: Gate = { closed: undefined };
    const trx = overConnection(db, connection, gate);
    const execute = (text: string): Promise<unknown> => trx.executeQuery(CompiledQuery.raw(text));
    let unanswered: Promise<unknown>[] = [];
    let committing: Promise<unknown> | undefined;

    function commit(): Promise<unknown> {
      committing ??= execute('commit');
      gate.closed ??= new Error('unreachable: a statement behind the commit of its transaction');
      return committing;
    }
    const tx: PipelinedTransaction = {
      db: trx,
      send(sent) {
        sent.catch(() => {}); // reported where it is awaited
        unanswered.push(sent);
        return sent;
      },
      flush() {
        const answers = Promise.all(unanswered).then(() => {});
        answers.catch(() => {}); // may be awaited later, when more has been sent
        unanswered = [answers]; // and if it is not, the commit waits for it
        return answers;
      },
      async commitWith(...last) {
        const answers = Promise.all(last);
        await Promise.all([answers, ...unanswered, commit()]);
        return answers;
      },
    };
    try {
      const begun = tx.send(execute(beginning));
      begun.catch((error: unknown) => (gate.closed = error)); // checked below
      const result = await work(tx);
      await begun;
      await tx.flush();
      await commit();
      return result;
    } catch (error) {
      gate.closed = undefined;
      await execute('rollback');
      throw error;
    } finally {
      gate.closed = new Error('unreachable: a statement of a transaction that is over');
    }
  });
}

/** Why no more statements are accepted: the connection may have been lent again. */
type Gate = { closed: unknown };

/** Kysely allows one statement at a time on a connection. This allows several. */
function overConnection(db: SharedDb, connection: DatabaseConnection, gate: Gate): SharedDb {
  const executor = db.getExecutor().withConnectionProvider({
    provideConnection: (consumer) =>
      gate.closed === undefined ? consumer(connection) : Promise.reject(gate.closed as Error),
  });
  return new Kysely<AllTables>({ config: { dialect: DIALECT }, dialect: DIALECT, driver: DRIVER, executor });
}

/** Kysely requires a dialect, but does not use it when it has an executor. */
const DIALECT = new PostgresDialect({
  pool: () => Promise.reject(new Error('unreachable: this dialect opens no connections')),
});
const DRIVER = DIALECT.createDriver();
