/** Features that add tasks: kinds of operators, branches, setups, assets, deferral, values. */
import type { Build, Feature, Gives, Scope } from './builder.ts';
import { isMapped } from './model.ts';
import type { Node, Task } from './model.ts';

const adds = (name: string, add: (build: Build, scope: Scope) => Task | undefined): Feature => ({
  name,
  phase: 'task',
  apply(build) {
    const scope = build.scope();
    const made = add(build, scope);
    if (!made) return false;
    build.connect(scope, made);
    return true;
  },
});

const NO_DELAY = 'timedelta(0)';

/** Later tasks of the scope come after it, so that it decides about something. */
function followers(build: Build, scope: Scope, count: number): Task[] {
  return Array.from({ length: count }, () =>
    build.chance(30)
      ? build.add(scope, { kind: 'empty', maker: 'EmptyOperator', gives: 'nothing' })
      : build.add(scope, { gives: 'number' }),
  );
}

/** Ids of tasks in a group begin with those of the groups around it. */
function fullId(node: Node, scope: Scope): string {
  const prefixes: string[] = [];
  for (let one: Scope | undefined = scope; one?.group; one = one.around) {
    if (one.group.settings['prefix_group_id'] !== 'False') prefixes.unshift(one.group.id);
    // Without a prefix of its own, a group hides those around it.
    else break;
  }
  return [...prefixes, node.id].join('.');
}

type Decider = Partial<Task> & { ways?: number };

function branching(build: Build, scope: Scope, decider: Decider): Task {
  const { ways = 2, ...given } = decider;
  const branch = build.add(scope, { gives: 'value', returns: 'None', ...given });
  build.connect(scope, branch);
  const next = followers(build, scope, ways);
  for (const task of next) task.after.push(branch.id);
  const [first, second] = next;
  if (!first || !second) return branch;
  if (build.chance(25)) second.after.push(first.id);
  const one = `"${fullId(first, scope)}"`;
  branch.returns = build.random.pick([one, `[${one}]`, `[${one}, "${fullId(second, scope)}"]`, '[]', 'None']);
  const join = build.add(scope, { gives: 'number' });
  join.after.push(first.id, second.id);
  if (build.chance(70))
    join.settings['trigger_rule'] = build.random.pick([
      '"none_failed_min_one_success"',
      '"none_failed"',
      '"all_done"',
      '"one_success"',
    ]);
  return join;
}

function circuit(build: Build, scope: Scope, given: Partial<Task>): Task {
  const decider = build.add(scope, { ...given, returns: build.random.pick(['False', 'True', '0', '[]', '"yes"']) });
  build.connect(scope, decider);
  const [first, second] = followers(build, scope, 2);
  first?.after.push(decider.id);
  if (first) second?.after.push(first.id);
  if (second && build.chance(50)) second.settings['trigger_rule'] = build.random.pick(['"all_done"', '"none_failed"']);
  return second ?? decider;
}

function settingUp(build: Build, scope: Scope, ends: { setup?: Task['raise']; teardown?: Task['raise'] }): Task {
  const open = build.add(scope, {
    wrapper: 'setup',
    gives: 'text',
    ...(ends.setup && { raise: ends.setup }),
  });
  build.connect(scope, open);
  const work = build.add(scope, { args: [['a', { of: open.id }]], gives: 'number' });
  work.after.push(open.id);
  if (build.chance(40)) {
    const more = build.add(scope, { gives: 'number' });
    more.after.push(work.id);
    const close = teardown(build, scope, open, ends.teardown);
    close.after.push(more.id);
    return close;
  }
  const close = teardown(build, scope, open, ends.teardown);
  close.after.push(work.id);
  if (build.chance(40)) {
    const later = build.add(scope, { gives: 'number' });
    later.after.push(build.chance(50) ? work.id : close.id);
  }
  return close;
}

const teardown = (build: Build, scope: Scope, open: Task, raise: Task['raise']): Task =>
  build.add(scope, {
    wrapper: build.chance(30) ? 'teardown(on_failure_fail_dagrun=True)' : 'teardown',
    teardownOf: [open.id],
    gives: 'nothing',
    ...(raise && { raise }),
  });

/** With a value from before it. */
const consuming = (build: Build, scope: Scope): Task => {
  const task = build.add(scope);
  task.args.push(['a', build.value(scope)]);
  // It may have picked itself.
  if (!task.args.some(([, value]) => 'of' in value && value.of === task.id)) return task;
  task.args.length = 0;
  return task;
};

const typed = (name: string, returns: string, gives: Gives = 'value'): Feature =>
  adds(name, (build, scope) => {
    const made = build.add(scope, { returns, gives });
    build.add(scope, { args: [['a', { of: made.id }]] });
    return made;
  });

export const TASK_FEATURES: readonly Feature[] = [
  adds('taskflow', consuming),
  adds('python operator', (build, scope) => {
    const given = build.value(scope);
    return build.add(scope, {
      kind: 'python',
      maker: 'PythonOperator',
      args: build.chance(50)
        ? [['op_args', { list: [given, { literal: '"{{ ds }}"' }] }]]
        : [['op_kwargs', { dict: [['a', given]] }]],
      returns: build.random.pick(['1', '[1, 2]', '{"a": 1}', 'None']),
    });
  }),
  adds('empty operator', (build, scope) =>
    build.add(scope, { kind: 'empty', maker: 'EmptyOperator', gives: 'nothing' }),
  ),
  adds('bash operator', (build, scope) =>
    build.add(scope, {
      kind: 'bash',
      maker: 'BashOperator',
      args: [['bash_command', { literal: build.random.pick(['"echo {{ ds }}"', '"echo $A; exit 99"', '"exit 3"']) }]],
      gives: 'text',
      settings: build.chance(50) ? { env: '{"A": "{{ run_id }}", "B": "2"}', append_env: 'True' } : {},
    }),
  ),
  adds('bash decorator', (build, scope) =>
    build.add(scope, { maker: 'task.bash', returns: '"echo {{ ti.task_id }}"', gives: 'text' }),
  ),
  adds('own operator', (build, scope) => {
    const more = build.value(scope);
    return build.add(scope, {
      kind: 'operator',
      maker: 'Echo',
      args: [
        ['text', { literal: '"{{ ds }} {{ ti.try_number }}"' }],
        ['more', { list: [more, { literal: '"{{ run_id }}"' }] }],
        ['plain', { literal: build.random.pick(['(1, 2)', '"{{ ds }}"', '{"a": 1}']) }],
      ],
    });
  }),
  adds('multiple outputs', (build, scope) => {
    const made = build.add(scope, {
      settings: { multiple_outputs: 'True' },
      returns: build.random.pick(['{"a": 1, "b": [2]}', '{"a": (1, 2), "b": None}']),
      gives: 'dict',
    });
    return build.add(scope, {
      args: [
        ['a', { of: made.id, key: 'a' }],
        ['b', { of: made.id, key: 'b' }],
      ],
    });
  }),
  adds('key of an xcom', (build, scope) => {
    const of = build.source(scope, 'dict');
    return build.add(scope, {
      args: 'of' in of ? [['a', { ...of, key: build.random.pick(['a', 'b', 'missing']) }]] : [],
    });
  }),
  adds('xcoms in lists and dicts', (build, scope) => {
    const [one, two] = [build.value(scope), build.value(scope)];
    return build.add(scope, {
      args: [
        [
          'a',
          {
            dict: [
              ['x', { list: [one, { literal: '{"t": "{{ ds }}"}' }] }],
              ['y', two],
            ],
          },
        ],
      ],
    });
  }),
  adds('pushed and pulled', (build, scope) => {
    const value = build.random.pick(['1', '[1]', '{"x": (1,)}', 'None', '"{{ ds }}"']);
    const made = build.add(scope, { body: [`ti.xcom_push("extra", ${value})`] });
    const id = fullId(made, scope);
    const pull = build.random.pick([
      `ti.xcom_pull("${id}", key="extra")`,
      `ti.xcom_pull(task_ids=["${id}", "${id}"], key="extra")`,
      `ti.xcom_pull("${id}", key="none")`,
      `ti.xcom_pull(task_ids="${id}")`,
      `ti.xcom_pull(task_ids=["${id}"], map_indexes=[0, 1])`,
      `ti.xcom_pull("${id}", map_indexes=ti.map_index)`,
    ]);
    const taken = build.add(scope, { body: [`note(ti, pulled=${pull})`], gives: 'number' });
    taken.after.push(made.id);
    return taken;
  }),
  adds('templates', (build, scope) => {
    const found = build.before(scope).filter((node): node is Task => node.node === 'task');
    const other = found.length > 0 ? build.random.pick(found) : undefined;
    const pulled =
      other === undefined ? '{{ ti.map_index }}' : `{{ ti.xcom_pull("${fullId(other, build.scopeOf(other))}") }}`;
    const made = build.add(scope, {
      kind: 'operator',
      maker: 'Echo',
      args: [
        ['text', { literal: `'${pulled}'` }],
        ['more', { literal: '{"a": ["{{ ts }}", ("{{ dag.dag_id }}", 1)], "{{ ds }}": {"{{ ds }}"}}' }],
      ],
    });
    if (other) made.after.push(other.id);
    return made;
  }),
  adds('template of params', (build, scope) => {
    build.dag.settings['params'] = '{"p": 1, "q": Param("x", type="string"), "r": [1, {"a": None}]}';
    return build.add(scope, {
      kind: 'operator',
      maker: 'Echo',
      args: [
        ['text', { literal: '"{{ params.p }} {{ params.q }} {{ params.r }}"' }],
        ['more', { literal: build.random.pick(['"{{ params }}"', '["{{ params.r[1].a }}"]']) }],
      ],
      ...(build.chance(40) && { settings: { params: '{"p": 2}' } }),
    });
  }),
  adds('template of a macro', (build, scope) => {
    build.dag.settings['user_defined_macros'] = '{"twice": lambda x: x * 2, "fixed": {"k": 1}}';
    build.dag.settings['user_defined_filters'] = '{"shout": lambda x: str(x).upper()}';
    return build.add(scope, {
      args: [
        ['a', { literal: '["{{ twice(2) }}", "{{ fixed.k }}", "{{ \'ab\' | shout }}", "{{ macros.ds_add(ds, 3) }}"]' }],
      ],
    });
  }),
  adds('undefined in a template', (build, scope) =>
    build.add(scope, {
      args: [['a', { literal: build.random.pick(['"{{ nothing }}"', '"{{ nothing.at_all }}"', '"{{ 1 / 0 }}"']) }]],
    }),
  ),
  typed('tuple', '(1, (2, "x"))'),
  typed('set', '{1, 2, 3}'),
  typed('moment', '[datetime(2024, 3, 10, 2, 30, tzinfo=timezone.utc), date(2024, 2, 29), timedelta(hours=1)]'),
  typed('decimal', '{"d": Decimal("0.10")}'),
  typed('dict with other keys', '{1: "a", "1": "b", None: "c"}'),
  typed('ordered dict', 'OrderedDict([("b", 1), ("a", 2)])'),
  adds('branch decorator', (build, scope) => branching(build, scope, { maker: 'task.branch' })),
  adds('branch operator', (build, scope) =>
    branching(build, scope, { kind: 'python', maker: 'BranchPythonOperator', args: [] }),
  ),
  adds('branch to three', (build, scope) => branching(build, scope, { maker: 'task.branch', ways: 3 })),
  adds('short circuit', (build, scope) => circuit(build, scope, { maker: 'task.short_circuit' })),
  adds('short circuit of direct', (build, scope) =>
    circuit(build, scope, {
      maker: 'task.short_circuit',
      settings: { ignore_downstream_trigger_rules: 'False' },
    }),
  ),
  adds('short circuit operator', (build, scope) =>
    circuit(build, scope, { kind: 'python', maker: 'ShortCircuitOperator' }),
  ),
  adds('setup and teardown', (build, scope) => settingUp(build, scope, {})),
  adds('setup that fails', (build, scope) => settingUp(build, scope, { setup: { what: 'ValueError' } })),
  adds('setup that skips', (build, scope) => settingUp(build, scope, { setup: { what: 'AirflowSkipException' } })),
  adds('teardown that fails', (build, scope) => settingUp(build, scope, { teardown: { what: 'ValueError' } })),
  adds('loop', (build, scope) => {
    const made = build.add(scope, { times: 3, args: [['a', { literal: 'n' }]] });
    return build.add(scope, { args: [['a', { of: made.id }]], gives: 'number' });
  }),
  adds('sensor', (build, scope) => {
    const what = build.value(scope);
    return build.add(scope, {
      kind: 'operator',
      maker: 'Wait',
      args: [['what', what]],
      settings: { poke_interval: '0.01' },
    });
  }),
  adds('sensor that reschedules', (build, scope) =>
    build.add(scope, {
      kind: 'operator',
      maker: 'Wait',
      args: [['what', { literal: '"{{ ds }}"' }]],
      settings: { poke_interval: '0.01', mode: '"reschedule"' },
    }),
  ),
  adds('sensor that gives up', (build, scope) =>
    build.add(scope, {
      kind: 'operator',
      maker: 'Wait',
      args: [['never', { literal: 'True' }]],
      settings: { poke_interval: '0.02', timeout: '0.01', ...(build.chance(50) && { soft_fail: 'True' }) },
    }),
  ),
  adds('sensor decorator', (build, scope) =>
    build.add(scope, {
      maker: 'task.sensor',
      settings: { poke_interval: '0.01' },
      returns: build.random.pick(['True', 'count(ti, "received") > 1']),
    }),
  ),
  adds('deferral', (build, scope) => {
    const payload = build.random.pick(['1', '"{{ ds }}"', '[1, {"a": None}]', '{"b": 1, "a": 2}']);
    return build.add(scope, { kind: 'operator', maker: 'Defers', args: [['payload', { literal: payload }]] });
  }),
  adds('deferral that fails', (build, scope) =>
    build.add(scope, {
      kind: 'operator',
      maker: 'Defers',
      args: [['fails', { literal: 'True' }]],
      settings: build.chance(50) ? { retries: '1', retry_delay: NO_DELAY } : {},
    }),
  ),
  adds('outlet', (build, scope) => {
    const id = `@_${build.newId('a')}`;
    return build.add(scope, {
      settings: { outlets: `[Asset("${id}", "x://${id}/", extra={"fixed": 1})]` },
      ...(build.chance(60) && {
        body: [`context["outlet_events"][Asset("${id}", "x://${id}/")].extra = {"n": [1, "{{ ds }}"]}`],
      }),
    });
  }),
  adds('outlet by metadata', (build, scope) => {
    const id = `@_${build.newId('a')}`;
    return build.add(scope, {
      settings: { outlets: `[Asset("${id}", "x://${id}/")]` },
      body: [`yield Metadata(Asset("${id}", "x://${id}/"), {"rows": 3})`],
      returns: '4',
    });
  }),
  adds('asset alias', (build, scope) => {
    const id = `@_${build.newId('a')}`;
    return build.add(scope, {
      settings: { outlets: `[AssetAlias("${id}")]` },
      body: build.chance(80)
        ? [`context["outlet_events"][AssetAlias("${id}")].add(Asset("${id}_real", "x://${id}/real"), extra={"k": 1})`]
        : [],
    });
  }),
  adds('inlet', (build, scope) => {
    const id = `@_${build.newId('a')}`;
    const asset = `Asset("${id}", "x://${id}/")`;
    const made = build.add(scope, {
      settings: { outlets: `[${asset}]` },
      body: [`context["outlet_events"][${asset}].extra = {"n": 1}`],
    });
    const reads = build.add(scope, {
      settings: { inlets: `[${asset}]` },
      body: [`note(ti, events=[e.extra for e in context["inlet_events"][${asset}]])`],
    });
    reads.after.push(made.id);
    return reads;
  }),
  adds('context', (build, scope) =>
    build.add(scope, {
      body: [
        'note(ti, ds=context["ds"], ts=context["ts"], params=dict(context["params"]), keys=[ti.task_id, ti.map_index, ti.try_number, ti.max_tries], inlets=context["inlets"], outlets=len(context["outlets"]))',
        'note(ti, dag=context["dag"].dag_id, task=[context["task"].task_id, sorted(context["task"].upstream_task_ids), sorted(context["task"].downstream_task_ids)], run=[context["dag_run"].dag_id, context["dag_run"].conf, context["dag_run"].run_type == "manual"], logical=context["logical_date"], start=context["data_interval_start"], end=context["data_interval_end"])',
      ],
    }),
  ),
  adds('collector', (build, scope) => {
    const found = build.before(scope).filter((node) => node.node === 'task' && node.wrapper === undefined);
    if (found.length < 2) return undefined;
    const [one, two] = [build.random.pick(found), build.random.pick(found)];
    const made = build.add(scope, {
      args: [
        ['a', { of: one.id }],
        ['b', { of: two.id }],
      ],
      settings: { trigger_rule: '"all_done"' },
    });
    return isMapped(made) ? undefined : made;
  }),
];
