import { expect, it } from 'vitest';
import { neededAirflow } from './needed-airflow.ts';

it.each([
  ['from airflow.sdk import DAG, (\n', '3.0', ['airflow.sdk']],
  [
    'from airflow.sdk import (\n    DAG,\n    RollupMapper as R,  # since 3.3\n    WeekWindow,\n)\n',
    '3.3',
    ['RollupMapper', 'WeekWindow'],
  ],
  [
    'from airflow.sdk import task\n@task(retry_policy=p)\ndef a(task_state_store=None): ...\n',
    '3.3',
    ['retry_policy', 'task_state_store'],
  ],
  ['from airflow.sdk.definitions.retry_policy import X\n', '3.3', ['airflow.sdk.definitions.retry_policy']],
  ['from airflow.sdk import DAG  # not RollupMapper, retry_policy= or Window\n', '3.0', ['airflow.sdk']],
] as const)('the Airflow that a file needs follows from what it imports and names: %j', (text, version, because) => {
  expect(neededAirflow(text)).toEqual({ version, because });
});

it('a file for Airflow 2 with words of its own needs no newer Airflow', () => {
  expect(neededAirflow('from airflow import DAG\npartition_date = "x"\nretry_policy = 1\n')).toBeNull();
});
