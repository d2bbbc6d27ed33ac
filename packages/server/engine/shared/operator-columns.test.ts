import { expect, it } from 'vitest';
import { operatorColumns } from './operator-columns.ts';

const columns = (name: string, type: string) =>
  operatorColumns({
    operator: { operator_name: name, task_type: type },
  } as Parameters<typeof operatorColumns>[0]);

it('the class of an operator is kept beside its shown name where it is another word', () => {
  expect(columns('@task', '_PythonDecoratedOperator')).toEqual({
    operator: '@task',
    operator_class: '_PythonDecoratedOperator',
  });
  expect(columns('BashOperator', 'BashOperator')).toEqual({ operator: 'BashOperator', operator_class: null });
});
