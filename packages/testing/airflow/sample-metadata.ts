/** A small Airflow: a bit of everything that comes over, and of what does not. */
import { fernetEncrypt, newFernetKey } from './metadata-database.ts';
import type { AirflowVersion, MetadataFixture } from './metadata-database.ts';

/** What must never be printed. */
export const SECRETS = ['pw-of-warehouse', 'token-in-extra', 'value-of-api-key'];

/** pickle.dumps({'limit': 5, 'who': ['a', 'b']}, 4) */
const PICKLED = Buffer.from(
  '80049521000000000000007d94288c056c696d6974944b058c0377686f945d94288c0161948c01629465752e',
  'hex',
);

const at = (day: number, time = '00:00:00.123456') => `2024-01-${String(day).padStart(2, '0')} ${time}`;
const ROW = { hostname: 'w1', pool: 'default_pool', pool_slots: 1, queue: 'default', priority_weight: 1, max_tries: 1 };

/** Three finished runs and one that runs; a task that was retried, one that is mapped, one that the DAG has no more. */
export async function fillSample(
  fixture: MetadataFixture,
  version: AirflowVersion,
  keys: { current: string; old: string },
): Promise<void> {
  const { insert } = fixture;
  const isNew = version === '3.2';
  await insert('slot_pool', {
    id: 1,
    pool: 'default_pool',
    slots: 64,
    description: 'Default pool',
    include_deferred: false,
  });
  await insert('slot_pool', { id: 2, pool: 'etl', slots: 5, description: 'for etl', include_deferred: true });
  await insert(
    'variable',
    { id: 1, key: 'region', val: 'eu', description: 'where', is_encrypted: false },
    { id: 2, key: 'api_key', val: fernetEncrypt(keys.current, 'value-of-api-key'), is_encrypted: true },
    { id: 3, key: 'other', val: fernetEncrypt(newFernetKey(), 'lost'), is_encrypted: true },
  );
  await insert('connection', {
    id: 1,
    conn_id: 'warehouse',
    conn_type: 'postgres',
    host: 'db',
    login: 'etl',
    schema: 'public',
    port: 5432,
    password: fernetEncrypt(keys.old, 'pw-of-warehouse'),
    extra: fernetEncrypt(keys.current, '{"token":"token-in-extra"}'),
    is_encrypted: true,
    is_extra_encrypted: true,
  });
  await insert('connection', {
    id: 2,
    conn_id: 'bad/id',
    conn_type: 'http',
    is_encrypted: false,
    is_extra_encrypted: false,
  });
  const state = (isActive: boolean) => (isNew ? { is_stale: !isActive } : { is_active: isActive });
  await insert('dag', {
    dag_id: 'etl',
    is_paused: false,
    ...state(true),
    fileloc: '/dags/etl.py',
    owners: 'ana, ben',
    description: 'loads',
  });
  await insert('dag', { dag_id: 'gone', is_paused: false, ...state(false), fileloc: '/dags/gone.py', owners: 'ana' });
  await insert('dag_tag', { name: 'daily', dag_id: 'etl' });
  const wrapped = (task: object) => (isNew ? { __var: task, __type: 'operator' } : task);
  const type = isNew ? 'task_type' : '_task_type';
  const data = {
    __version: isNew ? 3 : 1,
    dag: {
      tasks: [
        wrapped({ task_id: 'extract', [type]: 'BashOperator', downstream_task_ids: ['g.load'] }),
        wrapped({ task_id: 'g.load', [type]: '_PythonDecoratedOperator', _operator_name: '@task', _is_mapped: true }),
      ],
      task_group: {
        _group_id: null,
        children: {
          extract: ['operator', 'extract'],
          g: ['taskgroup', { _group_id: 'g', children: { 'g.load': ['operator', 'g.load'] } }],
        },
      },
    },
  };
  await insert('serialized_dag', { dag_id: 'etl', data: JSON.stringify(data), last_updated: at(1) });
  const run = (id: number, day: number, more: object = {}) => ({
    id,
    dag_id: 'etl',
    run_id: `scheduled__2024-01-${String(day).padStart(2, '0')}T00:00:00+00:00`,
    run_type: 'scheduled',
    state: 'success',
    data_interval_start: at(day, '00:00:00'),
    data_interval_end: at(day + 1, '00:00:00'),
    queued_at: at(day + 1, '00:00:01'),
    start_date: at(day + 1, '00:00:02'),
    end_date: at(day + 1, '00:10:00'),
    ...(isNew
      ? { logical_date: at(day, '00:00:00'), run_after: at(day + 1, '00:00:00') }
      : { execution_date: at(day, '00:00:00') }),
    ...more,
  });
  const conf = isNew ? JSON.stringify({ limit: 5, who: ['a', 'b'] }) : PICKLED;
  await insert(
    'dag_run',
    run(11, 1),
    run(12, 2, { state: 'failed' }),
    run(13, 3, {
      run_id: 'manual__x',
      run_type: 'manual',
      conf,
      ...(isNew ? { triggered_by: 'UI', triggering_user_name: 'ana' } : { external_trigger: true }),
    }),
    run(14, 4, { state: 'running', end_date: null }),
    { ...run(15, 1), dag_id: 'gone' },
  );
  await insert('dag_run_note', {
    dag_run_id: 13,
    content: 'a note',
    user_id: isNew ? 'ana' : 1,
    created_at: at(5),
    updated_at: at(5),
  });
  const uuid = (n: number) => (isNew ? { id: `00000000-0000-0000-0000-00000000000${n}` } : {});
  const instance = (
    n: number,
    runId: string,
    taskId: string,
    more: object = {},
  ): Record<string, string | number | null> => ({
    ...uuid(n),
    ...ROW,
    dag_id: 'etl',
    run_id: runId,
    task_id: taskId,
    map_index: -1,
    state: 'success',
    try_number: 1,
    operator: 'BashOperator',
    start_date: at(2, '00:00:05'),
    end_date: at(2, '00:00:06'),
    ...more,
  });
  const first = 'scheduled__2024-01-01T00:00:00+00:00';
  const second = 'scheduled__2024-01-02T00:00:00+00:00';
  const python = { operator: '_PythonDecoratedOperator', custom_operator_name: '@task' };
  await insert(
    'task_instance',
    instance(1, first, 'extract', { try_number: 2 }),
    instance(2, first, 'g.load', { map_index: 0, rendered_map_index: 'zero', ...python }),
    instance(3, first, 'g.load', { map_index: 1, ...python }),
    instance(4, first, 'old_task', { state: 'skipped' }),
    instance(5, second, 'extract', { state: 'failed' }),
    instance(6, second, 'g.load', { state: 'upstream_failed', start_date: null, end_date: null, ...python }),
    instance(7, 'manual__x', 'extract', { state: 'deferred' }),
    { ...instance(8, first, 'only'), dag_id: 'gone' },
  );
  await insert('task_instance_note', {
    ...(isNew
      ? { ti_id: uuid(1).id ?? '', user_id: 'ana' }
      : { dag_id: 'etl', run_id: first, task_id: 'extract', map_index: -1, user_id: 1 }),
    content: 'note of a task',
    created_at: at(5),
    updated_at: at(5),
  });
  const { id: _id, ...tried } = instance(1, first, 'extract', { try_number: 1, state: 'failed' });
  await insert('task_instance_history', { ...tried, ...(isNew ? { task_instance_id: uuid(9).id ?? '' } : {}) });
  if (isNew) return;
  await insert(
    'ab_user',
    { id: 1, username: 'ana', email: 'Ana@example.com', active: true, password: 'scrypt:32768:8:1$x$y' },
    { id: 2, username: 'ben', email: 'ben@example.com', active: false, password: 'pbkdf2:sha256:1$x$y' },
    { id: 3, username: 'root', email: 'admin', active: true, password: null },
    { id: 4, username: 'us', email: 'admin@example.com', active: true, password: null },
  );
  await insert(
    'ab_role',
    { id: 1, name: 'Op' },
    { id: 2, name: 'Viewer' },
    { id: 3, name: 'Analysts' },
    { id: 4, name: 'Public' },
  );
  await insert(
    'ab_user_role',
    { id: 1, user_id: 1, role_id: 1 },
    { id: 2, user_id: 1, role_id: 3 },
    { id: 3, user_id: 2, role_id: 2 },
    { id: 4, user_id: 4, role_id: 2 },
  );
}
