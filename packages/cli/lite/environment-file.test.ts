import { describe, expect, it } from 'vitest';
import { dagText, workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { applyEnvironmentFile, describeEnvironment } from './environment-file.ts';

const ENV_FILE = [
  'GREETING="hello you" # for tasks',
  'KNOWN=from the file',
  'AIRFLOW__CORE__DEFAULT_TIMEZONE=utc',
  'AIRFLOW_CONN_DB=postgres://u:p@h',
  'AIRFLOW_VAR_CITY=Bern',
  'PATH=/evil',
  'SVC_SECRET_KEY=x',
  'LD_PRELOAD=/evil.so',
].join('\n');

describe('.env of a repository', () => {
  it('is the environment of tasks: but for what is set, what is the machine’s, and what is to be imported', async () => {
    const root = workspaceOf({ 'dags/a.py': dagText('a'), '.env': ENV_FILE });
    const env = { PATH: '/bin', KNOWN: 'from outside' };
    const applied = await applyEnvironmentFile(root, env);
    expect(env).toEqual({
      PATH: '/bin',
      KNOWN: 'from outside',
      GREETING: 'hello you',
      AIRFLOW__CORE__DEFAULT_TIMEZONE: 'utc',
    });
    const told = describeEnvironment(applied, root);
    expect(told).toContain('.env sets AIRFLOW__CORE__DEFAULT_TIMEZONE, GREETING for tasks');
    expect(told).toContain('AIRFLOW_CONN_DB, AIRFLOW_VAR_CITY of .env: "svc import');
    expect(told).not.toContain('hello');
  });

  it('of a folder that is no repository is left alone', async () => {
    const env = {};
    const applied = await applyEnvironmentFile(workspaceOf({ 'a.py': dagText('a'), '.env': ENV_FILE }), env);
    expect(env).toEqual({});
    expect(describeEnvironment(applied, '/x')).toBeUndefined();
  });
});
