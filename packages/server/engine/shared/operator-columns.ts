import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { InstanceRow } from '../../db/schema.ts';

/** What an instance keeps of the operator of its task: the shown name, and the class where that is another word. */
export const operatorColumns = ({
  operator: { operator_name: name, task_type: type },
}: Pick<CompiledSpec['tasks'][number], 'operator'>): Pick<InstanceRow, 'operator' | 'operator_class'> => ({
  operator: name,
  operator_class: type === name ? null : type,
});
