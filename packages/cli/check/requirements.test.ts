import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { describe, expect, it } from 'vitest';
import { packageOf } from '@svc/compiler/outside-packages.ts';
import { readRequirements } from './requirements.ts';

describe('the package of a module', () => {
  it.each([
    ['airflow.providers.amazon.aws.hooks.s3', 'apache-airflow-providers-amazon'],
    ['airflow.providers.cncf.kubernetes.operators.pod', 'apache-airflow-providers-cncf-kubernetes'],
    ['airflow.providers.common.sql.operators.sql', 'apache-airflow-providers-common-sql'],
    ['sklearn.svm', 'scikit-learn'],
    ['google.cloud.bigquery', 'google-cloud-bigquery'],
    ['some_thing.inside', 'some-thing'],
  ])('%s is %s', (module, name) => expect(packageOf(module)).toBe(name));
});

describe('what a repository asks for', () => {
  it('is found in all its files, by any spelling of the name, and not in comments or longer names', () => {
    const { lists, files } = readRequirements(
      workspaceOf({
        'requirements.txt': '# pandas\nscikit_learn==1.0\napache-airflow[amazon, postgres]==2.6.3\n',
        'requirements/extra.txt': 'PyYAML~=6.0\n',
        Dockerfile: 'FROM apache/airflow:2.6.3\nRUN pip install requests-oauthlib psycopg2\n',
      }),
    );
    expect(files).toEqual(['Dockerfile', 'requirements.txt', 'requirements/extra.txt']);
    const wanted = [
      'scikit-learn',
      'pyyaml',
      'psycopg2-binary',
      'apache-airflow-providers-amazon',
      'requests-oauthlib',
    ];
    expect(wanted.filter((name) => !lists(name))).toEqual([]);
    expect(['pandas', 'requests', 'apache-airflow-providers-google'].filter((name) => lists(name))).toEqual([]);
  });

  it.each([
    ['requirements.txt', 'apache-airflow==2.6.3\n', true],
    ['Dockerfile', 'FROM quay.io/astronomer/astro-runtime:11.3.0\n', true],
    ['Dockerfile', 'FROM quay.io/astronomer/astro-runtime:13.0.0\n', false],
    ['requirements.txt', 'apache-airflow>=3.0\n', false],
  ])('%s with %j: for Airflow 2 is %s', (file, text, expected) => {
    expect(readRequirements(workspaceOf({ [file]: text })).isForAirflow2).toBe(expected);
  });
});
