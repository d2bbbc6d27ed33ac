/** Features that map tasks and groups over values, and groups of all kinds. */
import type { Build, Feature, Scope } from './builder.ts';
import type { Expr, Task } from './model.ts';

const LITERALS = ['[1, 2]', '[1]', '["{{ ds }}", [1]]', '{"x": 1, "y": 2}', '[None, {"a": "{{ ds }}"}]'];
const SETS = ['[{"a": 1}, {"a": 2}]', '[{"a": "{{ ds }}", "b": 1}]', '[{"a": [1]}]'];

const maps = (name: string, add: (build: Build, scope: Scope) => Task | undefined): Feature => ({
  name,
  phase: 'task',
  apply(build) {
    const scope = build.scope({ mayMap: true });
    const made = add(build, scope);
    if (!made) return false;
    build.setGives(made, 'numbers');
    // What follows sees the output of all items.
    if (build.chance(60)) build.add(scope, { args: [['a', { of: made.id }]], gives: 'number' });
    return true;
  },
});

const over = (expr: Expr): Partial<Task> => ({ expand: { by: 'expand', over: [['a', expr]] }, returns: returned() });
const returned = (): string => 'a';

const mappedOver = (name: string, source: (build: Build, scope: Scope) => Expr, given: Partial<Task> = {}): Feature =>
  maps(name, (build, scope) => {
    const expr = source(build, scope);
    return build.add(scope, { ...over(expr), ...given });
  });

const numbers = (build: Build, scope: Scope): Expr => build.source(scope, 'numbers');

/** Makes the next node of the scope a group. */
const groups = (name: string, add: (build: Build, scope: Scope) => Scope, mayMap = false): Feature => ({
  name,
  phase: 'scope',
  apply(build) {
    const inside = add(build, build.scope({ mayMap }));
    const { group } = inside;
    if (!group) return false;
    const inputs = build.inputs(inside);
    const first = build.add(inside, {
      args: inputs.length > 0 ? [['a', { input: build.random.pick(inputs) }]] : [],
      gives: 'number',
    });
    if (build.chance(60)) group.gives = first.id;
    if (build.chance(50)) {
      const second = build.add(inside, { args: [['a', { of: first.id }]] });
      if (group.gives !== undefined && build.chance(50)) group.gives = second.id;
    }
    const outside = build.before(inside.around ?? inside, group);
    if (outside.length > 0 && build.chance(40)) group.after.push(build.random.pick(outside).id);
    return true;
  },
});

export const MAPPING_FEATURES: readonly Feature[] = [
  groups('group', (build, scope) => build.addGroup(scope)),
  groups('nested group', (build, scope) => build.addGroup(build.addGroup(scope))),
  groups('group without prefix', (build, scope) => build.addGroup(scope, { settings: { prefix_group_id: 'False' } })),
  groups('group with defaults', (build, scope) =>
    build.addGroup(scope, {
      settings: {
        default_args: build.random.pick([
          '{"retries": 1, "retry_delay": timedelta(0)}',
          '{"trigger_rule": "all_done"}',
          '{"on_success_callback": called("of_group")}',
        ]),
      },
    }),
  ),
  groups('group with input', (build, scope) => {
    const value = build.value(scope);
    return build.addGroup(scope, { args: [['x', value]] });
  }),
  groups(
    'mapped group',
    (build, scope) =>
      build.addGroup(scope, {
        expand: { by: 'expand', over: [['x', { literal: build.random.pick(LITERALS) }]] },
      }),
    true,
  ),
  groups(
    'mapped group over an xcom',
    (build, scope) => {
      const expr = numbers(build, scope);
      return build.addGroup(scope, { expand: { by: 'expand', over: [['x', expr]] } });
    },
    true,
  ),
  groups(
    'mapped group with partial',
    (build, scope) => {
      const [fixed, expr] = [build.value(scope), numbers(build, scope)];
      return build.addGroup(scope, { args: [['y', fixed]], expand: { by: 'expand', over: [['x', expr]] } });
    },
    true,
  ),
  groups(
    'mapped group by kwargs',
    (build, scope) => {
      const expr: Expr = build.chance(50) ? { literal: build.random.pick(SETS) } : build.source(scope, 'sets');
      return build.addGroup(scope, { expand: { by: 'kwargs', over: expr } });
    },
    true,
  ),
  mappedOver('expand literal', (build) => ({ literal: build.random.pick(LITERALS) })),
  mappedOver('expand empty', () => ({ literal: '[]' })),
  mappedOver('expand xcom', numbers),
  mappedOver('expand xcoms in a list', (build, scope) => {
    const [one, two] = [build.value(scope), build.value(scope)];
    return { list: [one, two, { literal: '"{{ ds }}"' }] };
  }),
  mappedOver('expand a value that is no list', (build, scope) =>
    build.source(scope, build.random.pick(['number', 'text', 'nothing'] as const)),
  ),
  mappedOver('expand a dict', (build, scope) => build.source(scope, 'dict')),
  maps('expand mapped', (build, scope) => {
    const first = build.add(scope, over({ literal: '[1, 2, 3]' }));
    return build.add(scope, over({ of: first.id }));
  }),
  maps('expand two', (build, scope) => {
    const expr = numbers(build, scope);
    return build.add(scope, {
      expand: {
        by: 'expand',
        over: [
          ['a', { literal: '[1, 2]' }],
          ['b', expr],
        ],
      },
      returns: '[a, b]',
    });
  }),
  maps('partial with xcom', (build, scope) => {
    const fixed = build.value(scope);
    return build.add(scope, {
      args: [['b', build.chance(50) ? fixed : { list: [fixed, { literal: '"{{ ti.map_index }}"' }] }]],
      expand: { by: 'expand', over: [['a', { literal: build.random.pick(LITERALS) }]] },
      returns: '[a, b]',
    });
  }),
  maps('expand kwargs', (build, scope) =>
    build.add(scope, { expand: { by: 'kwargs', over: { literal: build.random.pick(SETS) } }, returns: '[a, b]' }),
  ),
  maps('expand kwargs of an xcom', (build, scope) => {
    const expr = build.source(scope, 'sets');
    return build.add(scope, { expand: { by: 'kwargs', over: expr }, returns: 'a' });
  }),
  mappedOver('map', (build, scope) => ({
    map: numbers(build, scope),
    by: build.random.pick(['lambda x: [x, x * 2]', 'str', 'lambda x: {"v": x}', 'lambda x: 1 // x']),
  })),
  maps('map that skips', (build, scope) => {
    const skips = build.add(scope, { kind: 'taskflow', gives: 'numbers', returns: '[1, 2, 3]' });
    // A lambda cannot raise.
    return build.add(
      scope,
      over({ map: { of: skips.id }, by: 'lambda x: (_ for _ in ()).throw(AirflowSkipException()) if x == 2 else x' }),
    );
  }),
  mappedOver('map twice', (build, scope) => ({
    map: { map: numbers(build, scope), by: 'lambda x: x + 1' },
    by: 'lambda x: (x, "t")',
  })),
  mappedOver('zip', (build, scope) => ({ zip: [numbers(build, scope), numbers(build, scope)] })),
  mappedOver('zip with fill', (build, scope) => ({
    zip: [numbers(build, scope), numbers(build, scope)],
    fill: build.random.pick(['"none"', '0']),
  })),
  mappedOver('concat', (build, scope) => ({ concat: [numbers(build, scope), numbers(build, scope)] })),
  mappedOver('concat and map', (build, scope) => ({
    map: { concat: [numbers(build, scope), numbers(build, scope)] },
    by: 'lambda x: [x]',
  })),
  mappedOver('mapped item fails', numbers, { raise: { what: 'ValueError', when: 'item 1' } }),
  mappedOver('mapped item skips', numbers, { raise: { what: 'AirflowSkipException', when: 'item 0' } }),
  mappedOver('map index template', numbers, {
    settings: { map_index_template: '"{{ ti.map_index }} of {{ task.task_id }}"' },
  }),
  maps('mapped python operator', (build, scope) => {
    const fixed = build.value(scope);
    return build.add(scope, {
      kind: 'python',
      maker: 'PythonOperator',
      args: [['op_kwargs', { dict: [['b', fixed]] }]],
      expand: { by: 'expand', over: [['op_args', { literal: '[[1], ["{{ ds }}", 2]]' }]] },
      returns: 'list(args)',
    });
  }),
  maps('mapped bash operator', (build, scope) =>
    build.add(scope, {
      kind: 'bash',
      maker: 'BashOperator',
      expand: { by: 'expand', over: [['bash_command', { literal: '["echo a", "echo {{ ds }}"]' }]] },
      gives: 'text',
    }),
  ),
  maps('mapped own operator', (build, scope) => {
    const [expr, fixed] = [numbers(build, scope), build.value(scope)];
    return build.add(scope, {
      kind: 'operator',
      maker: 'Echo',
      args: [['more', { list: [fixed, { literal: '"{{ ti.map_index }}"' }] }]],
      expand: { by: 'expand', over: [['text', expr]] },
    });
  }),
  maps('mapped sensor', (build, scope) =>
    build.add(scope, {
      kind: 'operator',
      maker: 'Wait',
      settings: { poke_interval: '0.01' },
      expand: { by: 'expand', over: [['what', numbers(build, scope)]] },
    }),
  ),
  maps('mapped deferral', (build, scope) =>
    build.add(scope, {
      kind: 'operator',
      maker: 'Defers',
      expand: { by: 'expand', over: [['payload', numbers(build, scope)]] },
    }),
  ),
  maps('mapped short circuit', (build, scope) =>
    build.add(scope, { ...over(numbers(build, scope)), maker: 'task.short_circuit', returns: 'a' }),
  ),
];
