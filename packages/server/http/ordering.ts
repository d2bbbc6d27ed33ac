/** `order_by` as in Airflow: repeatable, `-` for descending order, limited to a list of allowed keys. */
import { ApiError } from './errors.ts';

export type Order<Column extends string> = { column: Column; direction: 'asc' | 'desc' };

export function parseOrderBy<Column extends string>(
  keys: readonly string[] | undefined,
  columns: Readonly<Record<string, Column>>,
  fallback: readonly Order<Column>[],
): readonly Order<Column>[] {
  if (!keys || keys.length === 0) return fallback;
  const order = keys.map((key): Order<Column> => {
    const name = key.replace(/^-/, '');
    const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
    if (column === undefined) {
      throw new ApiError(
        'invalid_request',
        `order_by: "${name.slice(0, 100)}" is not a sort key here: use ${Object.keys(columns).join(', ')}`,
      );
    }
    return { column, direction: key.startsWith('-') ? 'desc' : 'asc' };
  });
  // The fallback ends with a unique column. Without it, entries that compare as equal could move between pages.
  const direction = order[0]?.direction ?? 'asc';
  const tieBreakers = fallback.slice(-1).filter((tie) => order.every((key) => key.column !== tie.column));
  return [...order, ...tieBreakers.map((tie) => ({ ...tie, direction }))];
}
