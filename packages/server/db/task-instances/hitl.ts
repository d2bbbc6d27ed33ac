/** Questions of tasks to people (human in the loop): one per try of a task instance, and its answer. */
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { SharedDb, TenantDb } from '../database.ts';
import type { Person, HitlParam, TenantTables } from '../schema.ts';
import { OPERATOR_CLASS, stateCondition } from './filters.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

export type HitlRequest = Omit<Selectable<TenantTables['questions']>, 'tenant_id'>;

export type HitlKey = { tenantId: string; run: number; taskId: string; mapIndex: number; tryNumber: number };

export type NewHitlRequest = {
  dagId: string;
  subject: string;
  body: string | null;
  options: readonly string[];
  defaults: readonly string[] | null;
  multiple: boolean;
  params: Record<string, HitlParam>;
  assignedUsers: readonly Person[];
  /** Seconds until the defaults become the answer. Null: never. */
  timeout: number | null;
};

const ofKey = ({ tenantId, run, taskId, mapIndex, tryNumber }: HitlKey) => sql<boolean>`
  tenant_id = ${tenantId} and run = ${run} and task_id = ${taskId} and map_index = ${mapIndex} and try_number = ${tryNumber}`;

/**
 * Stores the first question of a try. A try that asks again, because it resumes after an answer or was lost, asks the
 * same question.
 */
export async function askOnce(
  db: SharedDb,
  key: HitlKey,
  question: NewHitlRequest,
): Promise<{ question: HitlRequest; isNew: boolean; isExpired: boolean }> {
  const inserted = await sql`
    insert into questions (tenant_id, run, task_id, map_index, try_number, dag_id, subject, body, options, defaults, multiple,
      params, assigned_users, expires_at)
    select ${key.tenantId}, ${key.run}, ${key.taskId}, ${key.mapIndex}, ${key.tryNumber}, ${question.dagId}, ${question.subject},
      ${question.body}, ${[...question.options]}::text[], ${question.defaults && [...question.defaults]}::text[],
      ${question.multiple}, ${JSON.stringify(question.params)}::json, ${JSON.stringify(question.assignedUsers)}::jsonb,
      now() + ${question.timeout}::float8 * interval '1 second'
    on conflict do nothing returning run`.execute(db);
  const { rows } = await sql<HitlRequest & { is_expired: boolean }>`
    select *, coalesce(expires_at <= clock_timestamp(), false) as is_expired from questions where ${ofKey(key)}`.execute(
    db,
  );
  const [found] = rows;
  if (!found) throw new Error('unreachable: the question was just asked');
  const { is_expired: isExpired, ...row } = found;
  return { question: row, isNew: inserted.rows.length > 0, isExpired };
}

export type Answer = { by: Person | null; chosenOptions: readonly string[]; paramsInput: Record<string, unknown> };

/** Returns undefined when another person answered before. */
export async function answerHitlRequest(db: SharedDb, key: HitlKey, answer: Answer): Promise<HitlRequest | undefined> {
  const { rows } = await sql<HitlRequest>`
    update questions set responded_at = clock_timestamp(), responded_by_id = ${answer.by?.id ?? null},
      responded_by_name = ${answer.by?.name ?? null}, chosen_options = ${[...answer.chosenOptions]}::text[],
      params_input = ${JSON.stringify(answer.paramsInput)}::json
    where ${ofKey(key)} and responded_at is null returning *`.execute(db);
  return rows[0];
}

export const findHitlDetail = (
  db: TenantDb,
  instance: { run: number; taskId: string; mapIndex: number },
  tryNumber: number,
): Promise<HitlRequest | undefined> =>
  db
    .selectFrom('questions')
    .selectAll()
    .where('run', '=', instance.run)
    .where('task_id', '=', instance.taskId)
    .where('map_index', '=', instance.mapIndex)
    .where('try_number', '=', tryNumber)
    .executeTakeFirst();

/** The columns by which a list can be sorted. */
const SORTABLE = {
  ti_id: 't.id',
  state: 't.state',
  task_id: 't.task_id',
  map_index: 't.map_index',
  operator: OPERATOR_CLASS,
  dag_id: 'q.dag_id',
  run_id: 'r.run_id',
  run_after: 'r.run_after',
  subject: 'q.subject',
  created_at: 'q.created_at',
  responded_at: 'q.responded_at',
  responded_by_id: 'q.responded_by_id',
  responded_by_name: 'q.responded_by_name',
} as const;

export type HitlColumn = keyof typeof SORTABLE;

export type HitlQuery = {
  limit: number;
  offset: number;
  order: readonly { column: HitlColumn; direction: 'asc' | 'desc' }[];
  dagIds?: readonly string[];
  /** `dag_runs.run_id`. */
  runId?: string;
  dagIdPatterns?: readonly TextMatch[];
  taskIdPatterns?: readonly TextMatch[];
  taskId?: string;
  mapIndex?: number;
  states?: readonly TaskStateOrNone[];
  isAnswered?: boolean;
  respondedByIds?: readonly string[];
  respondedByNames?: readonly string[];
  subjects?: readonly TextMatch[];
  bodies?: readonly TextMatch[];
  created?: readonly { operator: '>=' | '>' | '<=' | '<'; moment: string }[];
};

/**
 * Lists questions of current tries. Questions of earlier tries are shown with their try. Query plan: questions_open for
 * unanswered questions, which pages poll and which are few at any time.
 */
export async function listHitlDetails(
  db: TenantDb,
  query: HitlQuery,
): Promise<{ questions: HitlRequest[]; total: number }> {
  let matching = db
    .selectFrom('questions as q')
    .innerJoin('dag_runs as r', 'r.id', 'q.run')
    .innerJoin('task_instances as t', (join) =>
      join
        .onRef('t.run', '=', 'q.run')
        .onRef('t.task_id', '=', 'q.task_id')
        .onRef('t.map_index', '=', 'q.map_index')
        .onRef('t.try_number', '=', 'q.try_number'),
    );
  for (const condition of conditionsOf(query)) matching = matching.where(condition);
  let page = matching.selectAll('q').limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) {
    page = page.orderBy(SORTABLE[column], (order) =>
      direction === 'desc' ? order.desc().nullsLast() : order.asc().nullsLast(),
    );
  }
  const [questions, { total }] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { questions, total };
}

const equal = (column: string, value: string | number | undefined): RawBuilder<boolean>[] =>
  value === undefined ? [] : [sql<boolean>`${sql.ref(column)} = ${value}`];
const among = (column: string, values: readonly string[] | undefined): RawBuilder<boolean>[] =>
  values === undefined ? [] : [sql<boolean>`${sql.ref(column)} = any(${[...values]}::text[])`];

const conditionsOf = (query: HitlQuery): RawBuilder<boolean>[] => [
  ...among('q.dag_id', query.dagIds),
  ...equal('r.run_id', query.runId),
  ...equal('q.task_id', query.taskId),
  ...equal('q.map_index', query.mapIndex),
  ...(query.dagIdPatterns ?? []).map((match) => matches('q.dag_id', match)),
  ...(query.taskIdPatterns ?? []).map((match) => matches('q.task_id', match)),
  ...(query.subjects ?? []).map((match) => matches('q.subject', match)),
  ...(query.bodies ?? []).map((match) => matches('q.body', match)),
  ...(query.states ? [stateCondition(query.states)] : []),
  ...(query.isAnswered === undefined
    ? []
    : [query.isAnswered ? sql<boolean>`q.responded_at is not null` : sql<boolean>`q.responded_at is null`]),
  ...among('q.responded_by_id', query.respondedByIds),
  ...among('q.responded_by_name', query.respondedByNames),
  ...(query.created ?? []).map(({ operator, moment }) => sql<boolean>`q.created_at ${sql.raw(operator)} ${moment}`),
];
