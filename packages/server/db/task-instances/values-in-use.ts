/**
 * Replaces patterns by the values that match them. A pattern over the rows themselves reads all of them when few or
 * none match. The pools and queues of instances are few: the usual one and others. The others are found one after
 * another along an index of finished instances, and among the instances of unfinished runs.
 */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';
import { hasWaitingInFinishedRuns } from './counts.ts';
import { USUAL } from './filters.ts';
import type { InstanceFilter } from './filters.ts';
import { FINISHED } from './stretches.ts';
import { OPEN_RUN } from '../state-sets.ts';

const NAMED = [
  { column: 'pool', patterns: 'poolPatterns', values: 'pools' },
  { column: 'queue', patterns: 'queuePatterns', values: 'queues' },
] as const;
type Column = (typeof NAMED)[number]['column'];

/** Returns the filter with values instead of patterns. Null when no row has such a value. */
export async function withNames(db: TenantDb, filter: InstanceFilter): Promise<InstanceFilter | null> {
  const asked = NAMED.filter(({ patterns }) => (filter[patterns]?.length ?? 0) > 0);
  if (asked.length === 0 || filter.run !== undefined || (await hasWaitingInFinishedRuns(db))) return filter;
  let known = filter;
  for (const { column, patterns, values } of asked) {
    const found = await valuesInUse(db, column, filter[patterns] ?? []);
    const wanted = known[values];
    const both = wanted ? found.filter((value) => wanted.includes(value)) : found;
    if (both.length === 0) return null;
    known = { ...known, [values]: both, [patterns]: [] };
  }
  return known;
}

async function valuesInUse(db: TenantDb, column: Column, patterns: readonly TextMatch[]): Promise<string[]> {
  const isUnusual = sql<boolean>`${sql.ref(`t.${column}`)} <> ${sql.lit(USUAL[column])}`;
  const usual = db.selectNoFrom(sql<string>`${sql.lit(USUAL[column])}::text`.as('value'));
  const ofFinished = db
    .withRecursive('seen(value)', (seen) => {
      const values = seen
        .selectFrom('task_instances as t')
        .select(`t.${column} as value`)
        .where(FINISHED)
        .where(isUnusual)
        .orderBy(`t.${column}`)
        .limit(1);
      const following = values.where(sql<boolean>`${sql.ref(`t.${column}`)} > s.value`);
      return seen
        .selectFrom(values.as('first'))
        .select('first.value')
        .unionAll(
          seen
            .selectFrom('seen as s')
            .innerJoinLateral(following.as('next'), (join) => join.onTrue())
            .select('next.value'),
        );
    })
    .selectFrom('seen as v')
    .select('v.value');
  const runs = db
    .selectFrom('dag_runs as r')
    .select('r.id')
    .where(sql<boolean>`r.state in ${OPEN_RUN.raw}`);
  const ofLive = db
    .selectFrom('task_instances as t')
    .select(`t.${column} as value`)
    .distinct()
    .where(sql<boolean>`t.run = any(array(${runs}))`);
  const conditions = patterns.map((match) => matches('v.value', match));
  const found = async (values: typeof ofFinished | typeof ofLive | typeof usual): Promise<string[]> => {
    let query = db.selectFrom((values as typeof ofLive).as('v')).select('v.value');
    for (const condition of conditions) query = query.where(condition);
    return (await query.execute()).map((row) => row.value);
  };
  const all = await Promise.all([usual, ofFinished, ofLive].map(found));
  return [...new Set(all.flat())];
}
