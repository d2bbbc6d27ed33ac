/**
 * Changes rows whose new content depends on the old one (a field that is absent in a request keeps its value), without
 * losing simultaneous writes:
 *
 *   lock the rows that exist ──▶ overwrite them
 *   insert the others, unless another transaction has inserted them ──▶ then they exist now: repeat from the top
 *
 * Call it inside a transaction: the locks end with it.
 */
export type RowAccess<Row, Values> = {
  /** Returns the existing rows by key, locked until the transaction ends. */
  lock(keys: readonly string[]): Promise<Map<string, Row>>;
  /** Inserts rows that do not exist yet and returns those. */
  insert(rows: readonly Values[]): Promise<Map<string, Row>>;
  /** Only for rows that are locked. */
  overwrite(rows: readonly Values[]): Promise<Map<string, Row>>;
};

/** Postgres accepts 65,535 parameters in a statement, and a row has about a dozen. */
const ROWS_PER_STATEMENT = 500;

/** Each further round means that another transaction created, or created and deleted, a row. */
const MAX_ROUNDS = 20;

export async function readModifyWrite<Row, Values>(input: {
  rows: RowAccess<Row, Values>;
  keys: readonly string[];
  /**
   * Returns the new content, or undefined to leave the row unchanged. May throw to give up. May be called several times
   * for a key.
   */
  change(key: string, stored: Row | undefined): Values | undefined;
}): Promise<Map<string, Row>> {
  const { rows, change } = input;
  const written = new Map<string, Row>();
  for (let start = 0; start < input.keys.length; start += ROWS_PER_STATEMENT) {
    let keys = input.keys.slice(start, start + ROWS_PER_STATEMENT);
    for (let round = 0; keys.length > 0; round += 1) {
      if (round >= MAX_ROUNDS) throw new Error(`gave up after ${MAX_ROUNDS} rounds: ${keys.length} rows keep changing`);
      const stored = await rows.lock(keys);
      const changed = (wanted: boolean) =>
        keys
          .filter((key) => stored.has(key) === wanted)
          .flatMap((key) => {
            const values = change(key, stored.get(key));
            return values === undefined ? [] : [{ key, values }];
          });
      const existing = changed(true);
      const missing = changed(false);
      const overwritten = existing.length > 0 ? await rows.overwrite(existing.map((row) => row.values)) : [];
      const inserted =
        missing.length > 0 ? await rows.insert(missing.map((row) => row.values)) : new Map<string, Row>();
      for (const [key, row] of [...overwritten, ...inserted]) written.set(key, row);
      keys = missing.map((row) => row.key).filter((key) => !inserted.has(key));
    }
  }
  return written;
}
