/**
 * SQL whose text is the same each time: only its parameters differ, so the text is put together once, not at every execution.
 * For the statements on the road between two tasks, where Kysely's `sql` cost the control plane 0.8 ms for each task.
 */
import { CompiledQuery } from 'kysely';
import type { Kysely, QueryResult } from 'kysely';

export class FixedSql<Row> {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  /** `strings` stand around the values: one more than there are. */
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }

  /** Sent at once. It is not scoped to a tenant: the text names tenant_id itself. */
  execute<Tables>(db: Kysely<Tables>): Promise<QueryResult<Row>> {
    return db.executeQuery<Row>(CompiledQuery.raw(textOf(this), parametersOf(this)));
  }
}

const texts = new WeakMap<readonly string[], string>();

/** A template has its strings for life, so they are its name; which parts are fixed SQL themselves must not change, either. */
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

/** A tag like Kysely's `sql`: values are parameters, but for those that are fixed SQL themselves. */
export const fixedSql = <Row>(strings: TemplateStringsArray, ...values: unknown[]): FixedSql<Row> =>
  new FixedSql(strings, values);

/** SQL without values that was put together beforehand: a list of columns, say. For use within a `fixedSql`. */
export const fixedText = (sql: string): FixedSql<never> => new FixedSql([sql], []);
