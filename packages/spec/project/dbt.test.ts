import { describe, expect, it } from 'vitest';
import { dbtGroups, dbtKeyIn } from './dbt.ts';
import { loadProject } from './load.ts';

const loaded = (text: string) => {
  const project = loadProject(text, 'shop');
  if (!project.ok) throw new Error(project.problems.map(({ line, message }) => `${line}: ${message}`).join('; '));
  return project.project;
};

describe('dbt in svc.yaml', () => {
  it('is told to the compiler by group, with the key that errors are about', () => {
    const project = loaded(
      'description: x\ndbt:\n  schedule: "@daily"\n  granularity: level\ndbt_groups:\n  late:\n    project_dir: other\n    select: [tag:late]\n    upstream: [load]\n',
    );
    expect(dbtGroups(project)).toEqual({
      dag_id: 'shop',
      description: 'x',
      schedule: '@daily',
      groups: {
        dbt: { key: 'dbt', arguments: { project_dir: '.', granularity: 'level' } },
        late: {
          key: 'dbt_groups.late',
          upstream: ['load'],
          arguments: { project_dir: 'other', select: ['tag:late'] },
        },
      },
    });
  });

  it('is nothing without a group', () => {
    expect(dbtGroups(loaded(''))).toBeUndefined();
  });

  it.each([
    ['dbt:\n  granularity: model\n', /2: dbt\.granularity .*node, level, folder/],
    ['dbt:\n  projectdir: x\n', /2: unknown key dbt\.projectdir: did you mean project_dir/],
    ['dbt:\n  project_dir: ../x\n', /2: dbt\.project_dir /],
    ['dbt_groups:\n  a: { granularity: level }\n', /dbt_groups\.a/],
    ['dbt_groups:\n  a: { project_dir: x, schedule: "@daily" }\n', /schedule/],
  ])('refuses %j at its line', (text, message) => {
    expect(() => loaded(text)).toThrow(message);
  });

  it('finds the key that a message of the compiler begins with', () => {
    expect(dbtKeyIn('dbt: there is no dbt project')).toEqual(['dbt']);
    expect(dbtKeyIn('dbt_groups.late.upstream: the DAG has no task')).toEqual(['dbt_groups', 'late']);
    expect(dbtKeyIn('dbt is not installed')).toBeUndefined();
  });
});
