/**
 * The minimal transaction between two tasks: it reads and locks a row, then changes it and commits to disk. It needs
 * two round trips, because the write depends on the read.
 */
import pg from 'pg';

export type Commits = { once(): Promise<void>; close(): Promise<void> };

export async function openCommits(url: string): Promise<Commits> {
  const client = new pg.Client({ connectionString: url, pipeline: true });
  await client.connect();
  await client.query('create table if not exists floor (id int primary key, run int, state text, at timestamptz)');
  await client.query(
    "insert into floor select n, 1, 'running', now() from generate_series(1, 1000) n on conflict do nothing",
  );
  let number = 0;
  return {
    async once() {
      number = (number % 999) + 1;
      const [, read] = await Promise.all([
        client.query('begin'),
        client.query<{ id: number }>({ name: 'read', text: READ, values: [number] }),
      ]);
      const ids = read.rows.map(({ id }) => id);
      await Promise.all([client.query({ name: 'write', text: WRITE, values: [ids] }), client.query('commit')]);
    },
    close: () => client.end(),
  };
}

const READ = 'select * from floor where id in ($1, $1 + 1) for no key update';
const WRITE = "update floor set state = 'success', at = clock_timestamp() where id = any($1::int[]) returning *";
