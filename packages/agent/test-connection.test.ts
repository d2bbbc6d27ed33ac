import { expect, it } from 'vitest';
import { packagesFor } from './test-connection.ts';

it('a connection is tested with the packages of a DAG that has its provider, and of no other', () => {
  const environments = [
    ['pandas'],
    ['apache-airflow-providers-http-x', 'x'],
    ['apache_airflow_providers_http>=4', 'y'],
  ];
  const forProvider = (provider: string | null) => packagesFor({ provider, environments });
  expect(forProvider('apache-airflow-providers-http')).toBe(environments[2]);
  expect(forProvider('apache-airflow-providers-postgres')).toEqual([]);
  expect(forProvider(null)).toBe(environments[0]);
  expect(packagesFor({ provider: null, environments: [[]] })).toEqual([]);
});
