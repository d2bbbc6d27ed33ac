/** How the usage of ended tries is added up by day: the changes that facts of work make. */

export const BYTES_OF_GIB = 2 ** 30;

/** The columns of `usage_days` after its key, each with its sum over tries `u` and how a row takes it. */
const COLUMNS = [
  ['tries', 'count(*)'],
  ['seconds', sumOf('run')],
  ['cpu_seconds', sumOf('cpu')],
  ['gib_seconds', sumOf('gib')],
  ['memory_bytes', `coalesce(max((u.usage ->> 'memory')::float8), 0)`],
  ['read_bytes', sumOf('read')],
  ['written_bytes', sumOf('written')],
] as const;

function sumOf(field: string): string {
  return `coalesce(sum((u.usage ->> '${field}')::float8), 0)`;
}

export const USAGE_COLUMNS = COLUMNS.map(([name]) => name).join(', ');
export const USAGE_ADDED = COLUMNS.map(([name]) =>
  name === 'memory_bytes'
    ? 'memory_bytes = greatest(w.memory_bytes, excluded.memory_bytes)'
    : `${name} = w.${name} + excluded.${name}`,
).join(', ');

/** Tries `u` that have ended, with the day of their end. `taken` are the facts of a fold. */
const tries = (source: 'taken' | 'work_facts', condition: string): string => `(
      select tenant_id, (at at time zone 'UTC')::date as day, dag_id, task_id, coalesce(queue, '') as queue, usage::jsonb
      from ${source} where usage is not null ${condition}) u`;

/** The changes of `usage_days`. A try whose processes are unknown counts only for waits. */
export const changesOfUsage = (source: 'taken' | 'work_facts', condition = ''): string => `
    select u.tenant_id, u.day, u.dag_id, u.task_id, u.queue, ${COLUMNS.map(([name, sum]) => `${sum} as ${name}`).join(', ')}
    from ${tries(source, condition)} where u.usage ? 'cpu' group by 1, 2, 3, 4, 5`;

/** The changes of `wait_days`. */
export const changesOfWaits = (source: 'taken' | 'work_facts', condition = ''): string => `
    select u.tenant_id, u.day, u.dag_id, x.key as reason, sum(x.value::float8) as seconds
    from ${tries(source, condition)} cross join lateral jsonb_each_text(u.usage -> 'waits') x group by 1, 2, 3, 4`;
