/**
 * Reads runs and task instances of an Airflow from its database, page by page. Columns that a version lacks are null.
 */
import type { MetadataDatabase, RawRow } from './metadata-database.ts';
import { bytesOf, isTrue, momentOf, numberOf, textOf, wordOf } from './raw-values.ts';
import type { HistoryFilter, SourceRun, SourceTask, SourceTry } from './source-types.ts';

const RUNS_PER_PAGE = 500;
const INSTANCES_PER_PAGE = 4_000;

/** The columns of this Airflow's tables, read once. */
export type HistoryColumns = {
  runs: ReadonlySet<string>;
  runNotes: ReadonlySet<string>;
  instances: ReadonlySet<string>;
  instanceNotes: ReadonlySet<string>;
  tries: ReadonlySet<string>;
  users: ReadonlySet<string>;
};

export async function readHistoryColumns(db: MetadataDatabase): Promise<HistoryColumns> {
  return {
    runs: await db.columns('dag_run'),
    runNotes: await db.columns('dag_run_note'),
    instances: await db.columns('task_instance'),
    instanceNotes: await db.columns('task_instance_note'),
    tries: await db.columns('task_instance_history'),
    users: await db.columns('ab_user'),
  };
}

const column = (known: ReadonlySet<string>, alias: string, name: string): string =>
  known.has(name) ? `${alias}.${name}` : `null as ${name}`;

export async function readDagsWithRuns(db: MetadataDatabase): Promise<string[]> {
  return (await db.ask('select distinct dag_id from dag_run order by dag_id')).map((row) => wordOf(row, 'dag_id'));
}

export async function* readRuns(
  db: MetadataDatabase,
  columns: HistoryColumns,
  { after, filter }: { after: string | undefined; filter: HistoryFilter },
): AsyncGenerator<SourceRun[]> {
  const { runs: known } = columns;
  const logicalDate = known.has('logical_date') ? 'logical_date' : 'execution_date';
  const runAfter = known.has('run_after') ? 'run_after' : logicalDate;
  const notes = notesOf(columns, columns.runNotes, 'n.dag_run_id = r.id');
  const names = ['queued_at', 'start_date', 'end_date', 'state', 'run_type', 'conf'];
  const optional = [
    'data_interval_start',
    'data_interval_end',
    'triggered_by',
    'triggering_user_name',
    'partition_key',
  ];
  const conditions = ['r.id > $1'];
  const parameters: (string | number)[] = [];
  if (filter.dagIds !== undefined) {
    parameters.push(JSON.stringify(filter.dagIds));
    conditions.push(db.isIn('r.dag_id', `$${parameters.length + 1}`));
  }
  if (filter.since !== undefined) {
    parameters.push(db.dateText(filter.since));
    conditions.push(`r.${runAfter} >= ${db.date(`$${parameters.length + 1}`)}`);
  }
  const statement = `
    select r.id, r.dag_id, r.run_id, ${names.map((name) => `r.${name}`).join(', ')},
      ${[...optional, 'external_trigger'].map((name) => column(known, 'r', name)).join(', ')},
      r.${logicalDate} as logical_date, r.${runAfter} as run_after, ${notes.columns},
      (select count(*) from task_instance t where t.dag_id = r.dag_id and t.run_id = r.run_id) as instances
    from dag_run r ${notes.join}
    where ${conditions.join(' and ')} order by r.id limit ${RUNS_PER_PAGE}`;
  for (let position = after ?? '0'; ;) {
    const rows = await db.ask(statement, [Number(position), ...parameters]);
    if (rows.length > 0) yield rows.map(runOf);
    if (rows.length < RUNS_PER_PAGE) return;
    position = wordOf(rows.at(-1) ?? {}, 'id');
  }
}

/** Airflow 3 stores the author of a note as text, Airflow 2 as a key of its table of users. */
function notesOf(columns: HistoryColumns, notes: ReadonlySet<string>, on: string): { columns: string; join: string } {
  if (notes.size === 0) return { columns: 'null as note, null as note_user', join: '' };
  const join = `left join ${notes === columns.runNotes ? 'dag_run_note' : 'task_instance_note'} n on ${on}`;
  if (columns.users.size === 0 || columns.runs.has('logical_date'))
    return { columns: 'n.content as note, n.user_id as note_user', join };
  return {
    columns: 'n.content as note, u.username as note_user',
    join: `${join} left join ab_user u on u.id = n.user_id`,
  };
}

const runOf = (row: RawRow): SourceRun => {
  const conf = row['conf'] ?? null;
  return {
    position: wordOf(row, 'id'),
    dagId: wordOf(row, 'dag_id'),
    runId: wordOf(row, 'run_id'),
    runType: wordOf(row, 'run_type'),
    state: textOf(row['state']),
    logicalDate: momentOf(row['logical_date']),
    dataIntervalStart: momentOf(row['data_interval_start']),
    dataIntervalEnd: momentOf(row['data_interval_end']),
    runAfter: momentOf(row['run_after']),
    queuedAt: momentOf(row['queued_at']),
    startDate: momentOf(row['start_date']),
    endDate: momentOf(row['end_date']),
    // Airflow 2 pickles it into bytes, which Postgres writes as \x….
    conf:
      conf instanceof Uint8Array || (typeof conf === 'string' && conf.startsWith('\\x')) ? bytesOf(conf) : textOf(conf),
    triggeredBy: textOf(row['triggered_by']) ?? (isTrue(row['external_trigger']) ? 'rest_api' : null),
    triggeringUser: textOf(row['triggering_user_name']),
    note: textOf(row['note']),
    noteUser: textOf(row['note_user']),
    partitionKey: textOf(row['partition_key']),
    instances: numberOf(row['instances']) ?? 0,
  };
};

const KEY = ['dag_id', 'run_id', 'task_id', 'map_index'] as const;
const OPTIONAL = ['custom_operator_name', 'scheduled_dttm', 'rendered_map_index'];

export async function* readInstances(
  db: MetadataDatabase,
  columns: HistoryColumns,
  runs: readonly SourceRun[],
): AsyncGenerator<SourceTry[]> {
  const { instances: known, instanceNotes } = columns;
  const on = instanceNotes.has('ti_id') ? 'n.ti_id = t.id' : KEY.map((name) => `n.${name} = t.${name}`).join(' and ');
  const notes = notesOf(columns, instanceNotes, on);
  yield* readTries(db, { table: 'task_instance', known, key: KEY, notes, runs });
}

/** Airflow has them since 2.10. */
export async function* readEarlierTries(
  db: MetadataDatabase,
  columns: HistoryColumns,
  runs: readonly SourceRun[],
): AsyncGenerator<SourceTry[]> {
  if (columns.tries.size === 0) return;
  const notes = { columns: 'null as note, null as note_user', join: '' };
  yield* readTries(db, {
    table: 'task_instance_history',
    known: columns.tries,
    key: [...KEY, 'try_number'],
    notes,
    runs,
  });
}

async function* readTries(
  db: MetadataDatabase,
  input: {
    table: string;
    known: ReadonlySet<string>;
    key: readonly string[];
    notes: { columns: string; join: string };
    runs: readonly SourceRun[];
  },
): AsyncGenerator<SourceTry[]> {
  const { table, known, key, notes, runs } = input;
  const names = ['state', 'max_tries', 'operator', 'pool', 'pool_slots', 'priority_weight', 'queue', 'queued_dttm'];
  const keyColumns = key.map((name) => `t.${name}`).join(', ');
  const statement = (isFirst: boolean): string => `
    select ${KEY.map((name) => `t.${name}`).join(', ')}, t.try_number, ${names.map((name) => `t.${name}`).join(', ')},
      t.start_date, t.end_date, t.hostname, t.pid, ${OPTIONAL.map((name) => column(known, 't', name)).join(', ')},
      ${notes.columns}
    from ${table} t join ${db.rowsOf('$1', ['dag_id', 'run_id'])} on k.dag_id = t.dag_id and k.run_id = t.run_id ${notes.join}
    ${isFirst ? '' : `where (${keyColumns}) > (${key.map((_, index) => `$${index + 2}`).join(', ')})`}
    order by ${keyColumns} limit ${INSTANCES_PER_PAGE}`;
  const wanted = JSON.stringify(runs.map(({ dagId, runId }) => ({ dag_id: dagId, run_id: runId })));
  for (let last: RawRow | undefined; ;) {
    const after: (string | number)[] =
      last === undefined
        ? []
        : key.map((name) =>
            name === 'map_index' || name === 'try_number' ? (numberOf(last?.[name]) ?? 0) : wordOf(last ?? {}, name),
          );
    const rows = await db.ask(statement(last === undefined), [wanted, ...after]);
    if (rows.length > 0) yield rows.map(tryOf);
    if (rows.length < INSTANCES_PER_PAGE) return;
    last = rows.at(-1);
  }
}

const tryOf = (row: RawRow): SourceTry => ({
  dagId: wordOf(row, 'dag_id'),
  runId: wordOf(row, 'run_id'),
  taskId: wordOf(row, 'task_id'),
  mapIndex: numberOf(row['map_index']) ?? -1,
  state: textOf(row['state']),
  tryNumber: numberOf(row['try_number']) ?? 0,
  maxTries: numberOf(row['max_tries']) ?? 0,
  operator: textOf(row['operator']),
  operatorName: textOf(row['custom_operator_name']),
  pool: textOf(row['pool']) ?? 'default_pool',
  poolSlots: numberOf(row['pool_slots']) ?? 1,
  priorityWeight: textOf(row['priority_weight']) ?? '1',
  queue: textOf(row['queue']) ?? 'default',
  scheduledAt: momentOf(row['scheduled_dttm']),
  queuedAt: momentOf(row['queued_dttm']),
  startDate: momentOf(row['start_date']),
  endDate: momentOf(row['end_date']),
  hostname: wordOf(row, 'hostname'),
  pid: numberOf(row['pid']),
  renderedMapIndex: textOf(row['rendered_map_index']),
  note: textOf(row['note']),
  noteUser: textOf(row['note_user']),
});

export async function readTasks(db: MetadataDatabase, columns: HistoryColumns, dagId: string): Promise<SourceTask[]> {
  const name = columns.instances.has('custom_operator_name') ? 'max(custom_operator_name)' : 'null';
  const rows = await db.ask(
    `select task_id, max(operator) as operator, ${name} as operator_name, max(map_index) as mapped
     from task_instance where dag_id = $1 group by task_id order by task_id`,
    [dagId],
  );
  return rows.map((row) => ({
    taskId: wordOf(row, 'task_id'),
    operator: textOf(row['operator']),
    operatorName: textOf(row['operator_name']),
    isMapped: (numberOf(row['mapped']) ?? -1) >= 0,
  }));
}
