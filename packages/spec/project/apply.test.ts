import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { validateSpec } from '../validate.ts';
import { applyProject } from './apply.ts';
import type { StatedSettings } from './apply.ts';
import { loadProject } from './load.ts';

const project = (yaml: string, directory = 'demo') => {
  const loaded = loadProject(yaml, directory);
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return loaded.project;
};

const apply = (spec: ReturnType<typeof makeSpec>, yaml: string, directory?: string, stated: StatedSettings = {}) => {
  const result = applyProject({ spec, stated }, project(yaml, directory));
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('\n'));
  return result;
};

const twoTasks = () =>
  makeSpec({
    tasks: [
      makeTask('extract', { downstream: ['load'], policy: { retries: 7, retry_delay: 70, execution_timeout: 700 } }),
      makeTask('load', { upstream: ['extract'] }),
    ],
  });

describe('precedence', () => {
  // What each layer says, if it says anything; zero is a value like any other.
  const said = fc.option(fc.nat({ max: 1_000 }), { nil: undefined });
  const KEYS = [
    ['retries', 'retries', 0],
    ['retry_delay_seconds', 'retry_delay', 0],
    ['execution_timeout_seconds', 'execution_timeout', 1],
  ] as const;

  it.each(KEYS)(
    'of %s is the override, then the DAG file, then the defaults, also when a value is zero',
    (key, field, least) => {
      fc.assert(
        fc.property(said, said, fc.nat({ max: 1_000 }), fc.boolean(), (task, defaults, dag, fileSaysSo) => {
          const shifted = (value: number | undefined) => (value === undefined ? undefined : value + least);
          const spec = makeSpec({ tasks: [makeTask('only', { policy: { [field]: dag } })] });
          const settings = {
            ...project(''),
            defaults: { [key]: shifted(defaults) },
            tasks: { only: { [key]: shifted(task) } },
          };
          // YAML knows no undefined: a key that is not said is not there.
          const written = JSON.stringify({ defaults: settings.defaults, tasks: settings.tasks });
          const stated = fileSaysSo ? { only: [field] } : {};
          const result = applyProject({ spec, stated }, project(written));
          const applied = result.ok ? result.spec.tasks[0]?.policy[field] : undefined;
          expect(applied).toBe(shifted(task) ?? (fileSaysSo ? dag : (shifted(defaults) ?? dag)));
        }),
      );
    },
  );

  it('of resources is decided one by one: asking for memory does not give up the CPU of the defaults', () => {
    const { spec } = apply(
      twoTasks(),
      'defaults: { resources: { cpu: 250m, memory: 256Mi } }\ntasks: { load: { resources: { memory: 1Gi } } }',
    );
    expect(spec.tasks.map((task) => task.resources)).toEqual([
      { cpu: '250m', memory: '256Mi' },
      { cpu: '250m', memory: '1Gi' },
    ]);
  });

  it('leaves what svc.yaml does not mention as the DAG says', () => {
    const before = twoTasks();
    const { spec } = apply(before, '');
    expect(spec.tasks).toEqual(before.tasks);
    expect({ ...spec.dag }).toEqual(before.dag);
  });

  it('gives one task its environment and execution settings, and no other', () => {
    const { spec } = apply(
      twoTasks(),
      'tasks: { load: { env: { MODE: fast }, execution: { service_account: loader } } }',
    );
    expect(spec.tasks.map(({ env, execution }) => [env, execution])).toEqual([
      [{}, null],
      [{ MODE: 'fast' }, { service_account: 'loader' }],
    ]);
  });

  it('does not take names that every object has for overrides', () => {
    const spec = makeSpec({ tasks: [makeTask('constructor'), makeTask('toString')] });
    expect(apply(spec, 'tasks: { constructor: { retries: 2 } }').spec.tasks.map((task) => task.policy.retries)).toEqual(
      [2, 0],
    );
  });
});

describe('a task that does not exist', () => {
  it('is a problem at its key, with the nearest name; every one is told', () => {
    const result = applyProject({ spec: twoTasks(), stated: {} }, project('tasks: { extrakt: {}, lod: {}, load: {} }'));
    expect(result).toEqual({
      ok: false,
      problems: [
        { path: ['tasks', 'extrakt'], message: expect.stringContaining('did you mean extract?') },
        { path: ['tasks', 'lod'], message: expect.stringContaining('did you mean load?') },
      ],
    });
  });

  it('is told for a DAG without tasks too', () => {
    expect(applyProject({ spec: makeSpec({ tasks: [] }), stated: {} }, project('tasks: { a: {} }'))).toMatchObject({
      ok: false,
    });
  });
});

describe('the DAG', () => {
  it('takes the id of the project, keeps the one its file uses for later, and warns', () => {
    const { spec, warnings } = apply(twoTasks(), '', 'sales');
    expect(spec.dag).toMatchObject({ dag_id: 'sales', display_name: 'sales' });
    expect(spec.project).toMatchObject({ defined_as: 'demo' });
    expect(warnings).toEqual([expect.stringContaining('names its DAG "demo"; it is registered as "sales"')]);
  });

  it('keeps a display name its author chose', () => {
    const spec = makeSpec({ tasks: [makeTask('a')], dag: { display_name: 'Sales of the day' } });
    expect(apply(spec, '', 'sales').spec.dag.display_name).toBe('Sales of the day');
  });

  it('joins tags, and takes description and owner from svc.yaml', () => {
    const spec = makeSpec({
      dag: { tags: ['b', 'a'], description: 'old' },
      tasks: [makeTask('mine', { policy: { owner: 'ana' } }), makeTask('nobodys')],
    });
    const { dag, tasks } = apply(spec, 'tags: [c, a]\ndescription: new\nowner: team').spec;
    expect(dag).toMatchObject({ tags: ['a', 'b', 'c'], description: 'new', owners: ['ana', 'team'] });
    expect(tasks.map((task) => task.policy.owner)).toEqual(['ana', 'team']);
  });

  it('carries what building and running need: packages behind connectors, staging, the Python line', () => {
    const { spec } = apply(
      twoTasks(),
      'python_version: 3.12\nconnectors: [postgres]\ndependencies: [duckdb]\nsystem_packages: [curl]\nstaging: { enabled: true, size: 10Gi }',
    );
    expect(spec.project).toEqual({
      schema_version: '1.0',
      defined_as: 'demo',
      python_version: '3.12',
      base_image: null,
      dependencies: ['duckdb', 'apache-airflow-providers-postgres'],
      system_packages: ['curl'],
      staging: { enabled: true, size: '10Gi', storage_class: null },
    });
    expect(validateSpec(spec)).toEqual([]);
  });

  it('is not changed in place: what was compiled can be used again', () => {
    const before = twoTasks();
    const copy = structuredClone(before);
    apply(before, 'owner: team\ndefaults: { retries: 9 }', 'other');
    expect(before).toEqual(copy);
  });
});
