/**
 * Transactions whose statements need not wait for one another. Kysely's own send a statement when the one before is answered;
 * here it leaves at once, and Postgres does them in the order in which they were sent. What is not needed to know what to ask
 * next costs no round trip: on the path between two tasks three are left of eleven, each a few tenths of a millisecond.
 */
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import type { DatabaseConnection } from 'kysely';
import type { SharedDb } from './database.ts';
import type { AllTables } from './schema.ts';

/**
 * For transactions whose statements reach their rows by keys, whatever the values: planned once per connection. Postgres by
 * itself plans them at every execution as soon as the tables have grown, because it takes the lists of keys for longer than
 * they are: 1.5 ms between two tasks. A plan that is kept must be good for any size of the tables, so it may go from key to
 * row only; one that was made while a table was small enough to be read whole took 20 ms when the next 1,000 tasks were there.
 */
const BEGIN_WITH_KEPT_PLANS = [
  'begin',
  'set local plan_cache_mode = force_generic_plan',
  ...['seqscan', 'hashjoin', 'mergejoin', 'material'].map((way) => `set local enable_${way} = off`),
].join('; ');

/** Not before there are statistics: a plan made without them is no plan to keep. */
export const beginning = ({ keepsPlans = false }): string => (keepsPlans ? BEGIN_WITH_KEPT_PLANS : 'begin');

/**
 * A transaction whose statements leave when they are executed, in that order, without waiting for the answers of those before
 * them. A reader finds the order of what is sent by reading the work from top to bottom:
 *
 *   const dag = tx.send(lockDag(tx.db, dagId));      leaves with `begin`
 *   const allowed = tx.send(check(tx.db));           behind it, in the same round trip
 *   await tx.flush();                                both are answered, or one of them has thrown
 *   const [row] = await tx.commitWith(insert(tx.db)) the last statement and the commit, in one round trip
 */
export type PipelinedTransaction = {
  /** What is executed here leaves at once. */
  readonly db: SharedDb;
  /** Takes note of statements that are on their way: `flush` and `commitWith` wait for them, and tell their failure. */
  send<T>(sent: Promise<T>): Promise<T>;
  /** Answered: everything that was taken note of until this call, the beginning too. Throws the first failure. */
  flush(): Promise<void>;
  /**
   * Sends the commit behind the statements that are given, which must be on their way: all of it is one round trip, and when
   * one of them fails nothing is committed. Nothing can be sent afterwards. Without it, the end of the work commits.
   */
  commitWith<T extends readonly unknown[]>(...last: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>;
};

/**
 * `beginning` (`begin`, and what else needs no parameters) leaves with the first statements of `work`. So what `work` sends
 * before its first answer must not write: should the beginning fail, it would stand alone. (The end of an attempt that was foreseen
 * does, and takes that risk: `begin` computes nothing, waits for nothing, and fails with its connection, like all behind it.)
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
        sent.catch(() => {}); // told by whoever waits for it
        unanswered.push(sent);
        return sent;
      },
      flush() {
        const answers = Promise.all(unanswered).then(() => {});
        answers.catch(() => {}); // may be waited for later, when more has been sent
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
      begun.catch((error: unknown) => (gate.closed = error)); // looked at below
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

/** Why no more statements are let through: the connection may be another's by now. */
type Gate = { closed: unknown };

/** Kysely lets one statement at a time onto a connection. This lets all. */
function overConnection(db: SharedDb, connection: DatabaseConnection, gate: Gate): SharedDb {
  const executor = db.getExecutor().withConnectionProvider({
    provideConnection: (consumer) =>
      gate.closed === undefined ? consumer(connection) : Promise.reject(gate.closed as Error),
  });
  return new Kysely<AllTables>({ config: { dialect: DIALECT }, dialect: DIALECT, driver: DRIVER, executor });
}

/** For what a Kysely wants to have and, with an executor of its own, does not ask. */
const DIALECT = new PostgresDialect({
  pool: () => Promise.reject(new Error('unreachable: this dialect opens no connections')),
});
const DRIVER = DIALECT.createDriver();
