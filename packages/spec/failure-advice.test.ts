import { expect, it } from 'vitest';
import { adviceFor } from './failure-advice.ts';

const codes = (...input: Parameters<typeof adviceFor>) => adviceFor(...input).map(({ code }) => code);

it('a refused connection is advised as one, and not only as a defect of the code', () => {
  expect(codes('exception', { type: 'psycopg2.OperationalError', message: 'x' })).toEqual([
    'check_connection',
    'fix_code',
  ]);
  expect(codes('exception', { type: 'RuntimeError', message: 'Connection refused' })[0]).toBe('check_connection');
});

it('a missing connection, variable or package is named as what is missing', () => {
  const notFound = { type: 'AirflowNotFoundException', message: "The conn_id `db` isn't defined" };
  expect(codes('exception', notFound)[0]).toBe('create_connection');
  expect(codes('exception', { type: 'KeyError', message: "'Variable x does not exist'" })[0]).toBe('create_variable');
  const noVariable = { type: 'VariableNotFound', message: 'Variable x does not exist' };
  expect(codes('exception', noVariable)[0]).toBe('create_variable');
  expect(codes('dag_file_failed', { type: 'ModuleNotFoundError', message: 'x' })).toEqual([
    'add_dependency',
    'fix_import',
  ]);
});

it('the exception in the log of a killed process does not hide that it was killed', () => {
  expect(codes('out_of_memory', { type: 'ConnectionError', message: 'x' })).toEqual(['raise_memory']);
  expect(codes('exception', { type: 'KeyError', message: "'x'" })).toEqual(['fix_code']);
});
