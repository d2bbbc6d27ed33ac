import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { InstanceRow } from '../../db/schema.ts';

/** The columns of an instance for the operator of its task: the displayed name, and the class if its name differs. */
export const operatorColumns = ({
  operator: { operator_name: name, task_type: type },
}: Pick<CompiledSpec['tasks'][number], 'operator'>): Pick<InstanceRow, 'operator' | 'operator_class'> => ({
  operator: name,
  operator_class: type === name ? null : type,
});
