import { sql } from 'kysely';
import type { TestServer } from './test-server.ts';

/** Its rows under so many other names, `d1` and on: to deploy a DAG takes 10 ms, and lists are long only with hundreds of them. */
export async function copyDag({ db }: TestServer, dagId: string, copies: number): Promise<void> {
  for (const [table, more] of [
    ['dags', ''],
    ['dag_versions', `, 'id', gen_random_uuid()`],
  ] as const) {
    const other = sql.raw(`jsonb_populate_record(one, jsonb_build_object('dag_id', 'd' || n${more}))`);
    await sql`insert into ${sql.table(table)} select (${other}).*
      from ${sql.table(table)} one, generate_series(1, ${copies}::int) n where one.dag_id = ${dagId}`.execute(
      db.shared,
    );
  }
}
