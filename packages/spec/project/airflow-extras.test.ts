import { expect, it } from 'vitest';
import { packageOfExtra } from './airflow-extras.ts';

it.each([
  ['postgres', 'apache-airflow-providers-postgres'],
  ['aws', 'apache-airflow-providers-amazon'],
  ['gcp_api', 'apache-airflow-providers-google'],
  [' Microsoft.Azure ', 'apache-airflow-providers-microsoft-azure'],
  ['pandas', 'pandas'],
  ['celery', undefined],
  ['devel-ci', undefined],
  ['all_dbs', undefined],
  ['edge3', undefined],
  ['', undefined],
  ['celery-x', 'apache-airflow-providers-celery-x'],
])('the extra %j of Airflow stands for the package %s', (extra, found) => {
  expect(packageOfExtra(extra)).toBe(found);
});
