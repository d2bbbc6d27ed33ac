/**
 * SQL whose text is always the same: only its parameters differ, so the text is built once instead of at every
 * execution. For the statements on the path between two tasks, where Kysely's `sql` cost the control plane 0.8 ms per
 * task (`npm run bench -- floor`).
 */
import { CompiledQuery } from 'kysely';
import type { Kysely, QueryResult } from 'kysely';

export class FixedSql<Row> {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  /** `strings` are the texts around the values, so there is one text more than values. */
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }

  /** Sends the statement before its first await. It is not scoped to a tenant, so the text must name tenant_id. */
  execute<Tables>(db: Kysely<Tables>): Promise<QueryResult<Row>> {
    return db.executeQuery<Row>(CompiledQuery.raw(textOf(this), parametersOf(this)));
  }
}

const texts = new WeakMap<readonly string[], string>();

/**
 * A template keeps its `strings` array for life, so the array is the cache key. The parts that are fixed SQL must not
 * change either.
 */
function textOf(statement: FixedSql<unknown>): string {
  const known = texts.get(statement.strings);
  if (known !== undefined) return known;
  let parameters = 0;
  const textFrom = ({ strings, values }: FixedSql<unknown>): string =>
    strings.reduce((before, part, index) => {
      const value = values[index - 1];
      return `${before}${value instanceof FixedSql ? textFrom(value) : `$${(parameters += 1)}`}${part}`;
    });
  const text = textFrom(statement);
  texts.set(statement.strings, text);
  return text;
}

function parametersOf({ values }: FixedSql<unknown>, into: unknown[] = []): unknown[] {
  for (const value of values) {
    if (value instanceof FixedSql) parametersOf(value, into);
    else into.push(value);
  }
  return into;
}

/** A tag like Kysely's `sql`. Values become parameters, except for those that are fixed SQL. */
export const fixedSql = <Row>(strings: TemplateStringsArray, ...values: unknown[]): FixedSql<Row> =>
  new FixedSql(strings, values);

/** SQL without values that was built before, such as a list of columns. For use within a `fixedSql`. */
export const fixedText = (sql: string): FixedSql<never> => new FixedSql([sql], []);
