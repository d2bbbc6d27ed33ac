import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { Check } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { CompiledSpec } from './schema.ts';
import { findCycle, topologicalOrder } from './task-graph.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { specProblems, validateSpec, validateSpecInTurns } from './validate.ts';

const change = (edit: (spec: CompiledSpec) => void): string[] => {
  const spec = structuredClone(
    makeSpec({ tasks: [makeTask('a', { downstream: ['b'] }), makeTask('b', { upstream: ['a'] })] }),
  );
  edit(spec);
  return validateSpec(spec);
};

/** Every place in it that holds something. */
const placesIn = (value: unknown, at: readonly string[] = []): string[][] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [[...at, key], ...placesIn(inner, [...at, key])]);

const groupOf = (id: string): CompiledSpec['groups'][number] => {
  const [root] = makeSpec({ tasks: [] }).groups;
  if (!root) throw new Error('a spec has a root group');
  return { ...root, group_id: id, label: id, display_name: id };
};

describe('a spec that is validated in turns', () => {
  const chain = (): CompiledSpec => {
    const ids = Array.from({ length: 450 }, (_, index) => `t${index}`);
    const at = (index: number): string[] => (ids[index] === undefined ? [] : [ids[index]]);
    const tasks = ids.map((id, index) => makeTask(id, { upstream: at(index - 1), downstream: at(index + 1) }));
    return structuredClone(makeSpec({ tasks }));
  };

  it.each<[string, (spec: CompiledSpec) => unknown]>([
    ['without a problem', () => undefined],
    ['with a wrong field in one of the last tasks', ({ tasks }) => Object.assign(tasks[449] ?? {}, { surprise: 1 })],
    ['with a wrong field in the first part', ({ tasks }) => Object.assign(tasks[0] ?? {}, { surprise: 1 })],
    ['with a wrong edge', ({ edges }) => Object.assign(edges[200] ?? {}, { label: 5 })],
    [
      'with a wrong field in one of many groups',
      (spec) => {
        for (let index = 0; index < 250; index += 1) spec.groups.push(groupOf(`g${index}`));
        Object.assign(spec.groups[240] ?? {}, { tooltip: 5 });
      },
    ],
    [
      'with several wrong meanings',
      (spec) => {
        spec.tasks[300]?.upstream_task_ids.push('ghost');
        spec.dag.dag_id = '..';
      },
    ],
    ['of an unknown version', (spec) => Object.assign(spec, { schema_version: '2.0' })],
  ])('has the same verdict, at the same places, as at once: %s', async (what, edit) => {
    const spec = chain();
    edit(spec);
    const atOnce = validateSpec(spec);
    expect(atOnce.length > 0).toBe(what !== 'without a problem');
    expect(await validateSpecInTurns(spec)).toEqual(atOnce);
  });

  it('is refused when it is no object at all', async () => {
    for (const value of [null, undefined, 1, 'x', [], {}]) {
      expect((await validateSpecInTurns(value)).length).toBeGreaterThan(0);
    }
  });
});

describe('a spec', () => {
  it('that the compiler could have written has no problems', () => {
    expect(change(() => {})).toEqual([]);
  });

  it('of an unknown version says to compile again, and only that', () => {
    expect(change((spec) => Object.assign(spec, { schema_version: '2.0' }))).toEqual([
      'schema_version: version "2.0" is not supported; compile the DAG again',
    ]);
  });

  it('with a wrong field is refused with the task and the field in words', () => {
    expect(change((spec) => Object.assign(spec.tasks[1]?.policy ?? {}, { retries: 'three' }))).toEqual([
      'tasks[b].policy.retries: must be integer',
    ]);
    expect(change((spec) => Object.assign(spec.tasks[0] ?? {}, { surprise: 1 }))).toEqual([
      'tasks[a]: must not have additional properties: surprise',
    ]);
    expect(change((spec) => delete (spec.dag as Partial<CompiledSpec['dag']>).catchup)[0]).toContain(
      'dag: must have required properties catchup',
    );
  });

  it('has the same shape for those who look at few, without compiling the schema, as for those who do', () => {
    const compiled = Compile(CompiledSpec);
    const spec = makeSpec({ tasks: [makeTask('a', { downstream: ['b'] }), makeTask('b', { upstream: ['a'] })] });
    let verdicts = '';
    for (const [index, path] of placesIn(spec).entries()) {
      const broken = structuredClone(spec) as unknown as Record<string, unknown>;
      const owner = path.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, broken);
      owner[path.at(-1) ?? ''] = [null, 0, 'x', [], {}, true, -1.5, undefined][index % 8];
      const verdict = compiled.Check(broken);
      expect(Check(CompiledSpec, broken), path.join('.')).toBe(verdict);
      verdicts += verdict ? '+' : '-';
    }
    expect(verdicts).toMatch(/\+.*-.*\+.*-/);
  });

  it('that is no object at all is refused, not crashed on', () => {
    for (const value of [null, undefined, 1, 'x', [], {}, { schema_version: '1.0' }]) {
      expect(specProblems(value).length).toBeGreaterThan(0);
    }
  });

  it('with thousands of errors answers with a few', () => {
    const spec = { ...makeSpec({ tasks: [] }), tasks: Array.from({ length: 5_000 }, () => ({})) };
    expect(specProblems(spec).length).toBeLessThanOrEqual(20);
  });
});

describe('references', () => {
  it.each<[string, (spec: CompiledSpec) => void, string]>([
    ['a task listed twice', (spec) => spec.tasks.push(makeTask('a', {})), "task id 'a' is used twice"],
    [
      'an upstream task that is not there',
      (spec) => spec.tasks[0]?.upstream_task_ids.push('ghost'),
      "task 'ghost' does not exist",
    ],
    [
      'an edge that only one side knows',
      (spec) => spec.tasks[0]?.downstream_task_ids.splice(0),
      "task 'a' does not say so",
    ],
    ['an edge missing from edges', (spec) => spec.edges.splice(0), "edge to 'b' is missing in edges"],
    ['an edge listed twice', (spec) => spec.edges.push(...spec.edges), 'an edge is listed twice'],
    [
      'a value of a task that is not there',
      (spec) =>
        Object.assign(spec.tasks[0] ?? {}, {
          arguments: { x: [{ deep: { __type: 'xcom', task_id: 'ghost', key: 'k' } }] },
        }),
      "tasks[a].arguments: refers to the value of task 'ghost'",
    ],
    [
      'a group that is not there',
      (spec) => Object.assign(spec.tasks[0] ?? {}, { group_id: 'ghost' }),
      "child task 'a' says it is in 'ghost'",
    ],
    [
      'a child that is not there',
      (spec) => spec.groups[0]?.children.push({ kind: 'group', id: 'ghost' }),
      "child group 'ghost' does not exist",
    ],
    [
      'a task in no group',
      (spec) => spec.groups[0]?.children.splice(0, 1),
      'tasks[a].group_id: no group lists it as a child',
    ],
    ['no root group', (spec) => spec.groups.splice(0), 'must be the root'],
    [
      'a template file that is not stored',
      (spec) => spec.tasks[0]?.template_files.push({ field: 'f', path: 'x.sql' }),
      "file 'x.sql' is not in files",
    ],
    ['an id that means a folder', (spec) => spec.tasks.push(makeTask('..', {})), "'..' is not a valid task id"],
    [
      'an id with a character nobody sees',
      (spec) => spec.tasks.push(makeTask('lo\u200bad', {})),
      String.raw`'lo\u{200b}ad' is not a valid task id`,
    ],
    [
      'a file whose name turns the direction of text',
      (spec) => (spec.source = { ...spec.source, path: 'd\u202eag.py' }),
      String.raw`'d\u{202e}ag.py' has a character that nobody can see`,
    ],
    ['a bad DAG id', (spec) => (spec.dag.dag_id = '..'), "dag.dag_id: '..' is not a valid DAG id"],
    [
      'a second root group',
      (spec) => spec.groups.push(...spec.groups),
      'the first group, and only it, must be the root',
    ],
    [
      'a group listed twice',
      (spec) => spec.groups.push(groupOf('g'), groupOf('g')),
      'groups: a group id is used twice',
    ],
    [
      'a group whose parent is not there',
      (spec) => spec.groups.push({ ...groupOf('g'), parent_id: 'ghost' }),
      "groups[g]: its parent 'ghost' does not exist",
    ],
    [
      'a child listed twice',
      (spec) => spec.groups[0]?.children.push({ kind: 'task', id: 'a' }),
      "groups[root]: child task 'a' is listed twice",
    ],
    [
      'a group that is listed in another place than it says',
      (spec) => {
        spec.groups.push(groupOf('g'), { ...groupOf('h'), parent_id: 'g' });
        spec.groups[0]?.children.push({ kind: 'group', id: 'g' }, { kind: 'group', id: 'h' });
      },
      "groups[root]: child group 'h' says it is in 'g'",
    ],
    [
      'a value of a task that is not there, in a template',
      (spec) =>
        Object.assign(spec.tasks[1] ?? {}, { templates: { x: { __type: 'xcom', task_id: 'ghost', key: 'k' } } }),
      "tasks[b].templates: refers to the value of task 'ghost'",
    ],
    [
      'a stored file whose name nobody can read',
      (spec) => spec.files.push({ path: 'a\u200b.sql', text: '', sha256: '0'.repeat(64) }),
      String.raw`files: 'a\u{200b}.sql' has a character that nobody can see`,
    ],
    [
      'more edges than the tasks have',
      (spec) => spec.edges.push({ from: 'b', to: 'a', label: null, is_setup_teardown: false }),
      'edges: has 2 edges, the tasks have 1',
    ],
    ['a bad task id', (spec) => spec.tasks.push(makeTask('a b', {})), "'a b' is not a valid task id"],
  ])('%s is found', (_, edit, message) => {
    expect(change(edit).join('\n')).toContain(message);
  });
});

describe('schedules', () => {
  it('that the scheduler could not evaluate are found here, not a day later', () => {
    const cron = (expression: string, timezone: string): string =>
      change((spec) => Object.assign(spec, { schedule: { type: 'cron_trigger', expression, timezone } })).join('\n');
    expect(cron('0 1 * * *', 'Europe/Berlin')).toBe('');
    expect(cron('61 * * * *', 'UTC')).toContain('schedule.expression');
    expect(cron('0 1 * * *', 'Mars/Olympus')).toContain('schedule.timezone');
    expect(change((spec) => Object.assign(spec, { schedule: { type: 'continuous' } }))).toEqual([
      'dag.max_active_runs: a continuous schedule takes one run at a time: set it to 1',
    ]);
  });
});

describe('params', () => {
  const withParam = (schema: Record<string, unknown>, value: unknown): string[] =>
    change((spec) =>
      spec.params.push({ name: 'p', schema, description: null, source: 'dag', has_default: true, default: value }),
    );

  it('whose default breaks its own schema are found before the first run is', () => {
    expect(withParam({ type: 'integer', minimum: 1 }, 0)).toEqual(['params[p]: its default 0 must be >= 1']);
    expect(withParam({ enum: ['a', 'b'] }, 'c')[0]).toContain('params[p]: its default "c"');
    expect(withParam({ type: 'integer', minimum: 1 }, 5)).toEqual([]);
    expect(withParam({ type: 'string', title: 'T', description_md: 'x' }, 'y')).toEqual([]);
  });

  it('of the format time are what the time picker gives, with or without an offset', () => {
    const time = { type: ['string', 'null'], format: 'time' };
    for (const value of ['12:13:14', '12:13:14.5', '12:13:14Z', '12:13:14+02:00'])
      expect(withParam(time, value)).toEqual([]);
    for (const value of ['12:13', '25:00:00', 'noon']) expect(withParam(time, value)).toHaveLength(1);
  });

  it('of the format date-time need no offset, as on Airflow', () => {
    const moment = { type: 'string', format: 'date-time' };
    for (const value of ['2024-01-01T00:00:00+00:00', '2024-01-01T00:00:00', '2024-01-01 00:00:00', '2024-01-01'])
      expect(withParam(moment, value)).toEqual([]);
    for (const value of ['2024-13-01', '2024-01-01T25:00:00', 'noon', '2024-01-01T00:00:00 Z'])
      expect(withParam(moment, value)).toHaveLength(1);
  });

  it('that are declared twice are found, in the DAG and in a task', () => {
    const param = {
      name: 'p',
      schema: {},
      description: null,
      source: 'dag',
      has_default: false,
      default: null,
    } as const;
    expect(change((spec) => spec.params.push(param, param))).toEqual(['params[p]: the param is declared twice']);
    expect(
      change((spec) => spec.tasks[1]?.params.push({ ...param, source: 'task' }, { ...param, source: 'task' })),
    ).toEqual(['tasks[b].params[p]: the param is declared twice']);
  });

  it('whose schema is no schema are found', () => {
    expect(withParam({ type: 'string', pattern: '(' }, 'x')[0]).toMatch(/^params\[p\]: its schema cannot be used: /);
  });

  it('may be empty by default, which means: ask', () => {
    expect(withParam({ type: 'string' }, null)).toEqual([]);
  });
});

describe('cycles', () => {
  const graph = (edges: readonly (readonly [string, string])[], ids: readonly string[]) =>
    ids.map((id) => ({
      task_id: id,
      upstream_task_ids: [...new Set(edges.filter(([, to]) => to === id).map(([from]) => from))].sort(),
      downstream_task_ids: [...new Set(edges.filter(([from]) => from === id).map(([, to]) => to))].sort(),
    }));

  it('are told as the path that closes', () => {
    expect(
      findCycle(
        graph(
          [
            ['a', 'b'],
            ['b', 'c'],
            ['c', 'a'],
            ['x', 'a'],
          ],
          ['x', 'a', 'b', 'c'],
        ),
      ),
    ).toEqual(['a', 'b', 'c', 'a']);
    expect(findCycle(graph([['a', 'a']], ['a']))).toEqual(['a', 'a']);
    expect(
      change((spec) => {
        spec.tasks[0]?.upstream_task_ids.push('b');
        spec.tasks[1]?.downstream_task_ids.push('a');
        spec.edges.push({ from: 'b', to: 'a', label: null, is_setup_teardown: false });
      }),
    ).toEqual(['tasks: the tasks wait for each other in a circle: a >> b >> a']);
  });

  it('exist exactly when no order exists, for any graph', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const pair = fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids));
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 14 }), (edges) => {
        const tasks = graph(edges, ids);
        const order = topologicalOrder(tasks);
        const cycle = findCycle(tasks);
        const place = (id: string): number => order.indexOf(id);
        const ordered = order.length === ids.length && edges.every(([from, to]) => place(from) < place(to));
        const steps = cycle?.slice(1).map((to, index) => [cycle[index], to] as const) ?? [];
        const closed = cycle?.[0] === cycle?.at(-1);
        const real = closed && steps.every(([from, to]) => edges.some((edge) => edge[0] === from && edge[1] === to));
        expect({ ordered, cyclic: cycle !== undefined, real }).toEqual({
          ordered: !cycle,
          cyclic: !ordered,
          real: true,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('do not overflow the stack on a chain of twenty thousand', () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `t${index}`);
    const tasks = ids.map((id, index) => ({
      task_id: id,
      upstream_task_ids: index > 0 ? [`t${index - 1}`] : [],
      downstream_task_ids: index < ids.length - 1 ? [`t${index + 1}`] : [],
    }));
    expect(topologicalOrder(tasks)).toEqual(ids);
  });
});
