/**
 * Lets the databases of tests refuse changes of states that packages/spec/states/transitions.ts does not have. A statement of the
 * engine that skips a rule then fails its test, also where no test looks at the state.
 *
 * People may mark and clear in any state, and continue a run with a version of its DAG that has no such task any more.
 * These changes are always accepted.
 */
import { sql } from 'kysely';
import type { SharedDb } from '@svc/server/db/database.ts';
import { MARKABLE_STATES, NO_STATUS, RUN_TRANSITIONS, TASK_TRANSITIONS } from '@svc/spec/states/transitions.ts';

export function legalTransitions(): string[] {
  const marks = Object.keys(TASK_TRANSITIONS).flatMap((from) =>
    [NO_STATUS, ...MARKABLE_STATES, 'removed'].map((to) => [from, to] as const),
  );
  return [
    ...checked('task_instances', [...pairsOf(TASK_TRANSITIONS), ...marks]),
    ...checked('dag_runs', pairsOf(RUN_TRANSITIONS)),
  ];
}

/** For tests that put an instance into a state to see what is made of it. */
export async function allowAnyState(db: SharedDb): Promise<void> {
  await sql`alter table task_instances disable trigger ${sql.raw(nameOf('task_instances'))}`.execute(db);
}

const stateOf = (row: string): string => `coalesce(${row}.state, '${NO_STATUS}')`;
const nameOf = (table: string): string => `refuse_illegal_states_of_${table}`;
const pairsOf = (table: Readonly<Record<string, readonly string[]>>): (readonly [string, string])[] =>
  Object.entries(table).flatMap(([from, targets]) => targets.map((to) => [from, to] as const));

function checked(table: string, pairs: readonly (readonly [string, string])[]): string[] {
  const name = nameOf(table);
  const legal = [...new Set(pairs.map(([from, to]) => `'${from} ${to}'`))].join(', ');
  return [
    `create function ${name}() returns trigger language plpgsql as $$
     begin
       if ${stateOf('old')} || ' ' || ${stateOf('new')} not in (${legal}) then
         raise exception 'a row of ${table} may not go from % to %: see packages/spec/states/transitions.ts', ${stateOf('old')}, ${stateOf('new')};
       end if;
       return null;
     end $$`,
    `create trigger ${name} after update of state on ${table} for each row
     when (old.state is distinct from new.state) execute function ${name}()`,
  ];
}
