import { expect, it } from 'vitest';
import { mergeModels, modelsInLog, modelsOfTask } from './models.ts';

const bash = (command: string) =>
  modelsOfTask({
    task_id: 't',
    operator: { module: 'airflow.providers.standard.operators.bash', name: 'BashOperator' },
    arguments: { bash_command: command },
  }).map(({ name }) => name);

it('finds what dbt reports as failed, by kind and file', () => {
  const log = [
    '06:00:01  1 of 5 OK created sql table model analytics.stg_customers ..... [SELECT 10 in 0.10s]',
    '06:00:02  2 of 5 ERROR creating sql table model analytics.stg_orders ...... [ERROR in 0.10s]',
    '06:00:03  3 of 5 FAIL 2 not_null_orders_id ......... [FAIL 2 in 0.05s]',
    '06:00:04  Database Error in model stg_orders (models/staging/stg_orders.sql)',
    '06:00:04  Failure in test unique_orders_id (models/schema.yml)',
    '06:00:05  Compilation Error in seed countries',
  ];
  expect(modelsInLog('dbt_run', log).map(({ name, kind, path }) => [name, kind, path])).toEqual([
    ['analytics.stg_orders', 'model', null],
    ['not_null_orders_id', 'test', null],
    ['stg_orders', 'model', 'models/staging/stg_orders.sql'],
    ['unique_orders_id', 'test', 'models/schema.yml'],
    ['countries', 'seed', null],
  ]);
});

it('does not take ordinary errors for models', () => {
  expect(modelsInLog('t', ['ValueError in model.fit()', 'Error: 2 of 5 models failed', 'ERROR - boom'])).toEqual([]);
});

it('reads selections of commands and arguments of dbt operators', () => {
  expect(bash('cd /dbt && dbt run --select stg_orders+ stg_items --target prod')).toEqual(['stg_orders+', 'stg_items']);
  expect(bash('dbt --quiet build -s "tag:nightly orders" && echo dbt')).toEqual(['tag:nightly', 'orders']);
  expect(bash('dbt test --models=orders')).toEqual(['orders']);
  expect(bash('echo --select x; ls')).toEqual([]);
  const operator = { module: 'cosmos.operators.local', name: 'DbtRunLocalOperator' };
  const found = modelsOfTask({ task_id: 't', operator, arguments: { models: ['a', 'b'], select: 'c', profile: 'x' } });
  expect(found.map(({ name, seen_in: seenIn }) => [name, seenIn])).toEqual([
    ['a', 'definition'],
    ['b', 'definition'],
    ['c', 'definition'],
  ]);
});

it('is one entry per model, with what the log knows', () => {
  const merged = mergeModels([
    { name: 'orders', kind: null, path: null, seen_in: 'definition', task_ids: ['a'] },
    { name: 'analytics.orders', kind: 'model', path: null, seen_in: 'log', task_ids: ['b'] },
    { name: 'orders', kind: 'model', path: 'models/orders.sql', seen_in: 'log', task_ids: ['b'] },
  ]);
  expect(merged).toEqual([
    { name: 'analytics.orders', kind: 'model', path: 'models/orders.sql', seen_in: 'log', task_ids: ['b', 'a'] },
  ]);
});
