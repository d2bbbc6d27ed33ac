import { expect, it } from 'vitest';
import { withProviderCompanions } from './provider-companions.ts';

it('providers bring along what Airflow would have brought; nothing else does', () => {
  expect(withProviderCompanions(['duckdb', 'Apache_Airflow-Providers-HTTP[x]>=5'])).toEqual(
    expect.arrayContaining(['duckdb', 'Apache_Airflow-Providers-HTTP[x]>=5', 'packaging', 'deprecated', 'sqlalchemy']),
  );
  const hashed = ['apache-airflow-providers-http==5.2 --hash=sha256:0'];
  expect(withProviderCompanions(hashed)).toEqual(hashed);
  expect(withProviderCompanions(['duckdb', 'apache-airflow-client'])).toEqual(['duckdb', 'apache-airflow-client']);
});
