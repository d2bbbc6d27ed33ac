/** Features that change tasks which are there: rules, ends, retries, callbacks; and those of the whole DAG. */
import { TRIGGER_RULE_NAMES } from '@svc/spec/trigger-rules.ts';
import type { Build, Feature } from './builder.ts';
import { argumentsOf, isMapped, sourcesOf } from './model.ts';
import type { Task } from './model.ts';

const changes = (
  name: string,
  change: (task: Task, build: Build) => void,
  fits: (task: Task, build: Build) => boolean = () => true,
): Feature => ({
  name,
  phase: 'change',
  apply(build) {
    const found = build.tasks((task) => fits(task, build));
    if (found.length === 0) return false;
    change(build.random.pick(found), build);
    return true;
  },
});

const isPython = (task: Task): boolean =>
  (task.kind === 'taskflow' || task.kind === 'python') && task.raise === undefined;
/** Airflow refuses other rules directly after a setup. */
const mayHaveRule = (task: Task, build: Build): boolean => {
  const upstream = [...task.after, ...argumentsOf(task).flatMap(sourcesOf)];
  const setups = new Set(build.tasks(({ wrapper }) => wrapper === 'setup').map(({ id }) => id));
  return (
    task.teardownOf === undefined &&
    upstream.length > 0 &&
    !upstream.some((id) => setups.has(id)) &&
    task.settings['trigger_rule'] === undefined
  );
};

const raises = (name: string, raise: NonNullable<Task['raise']>, more: Record<string, string> = {}): Feature =>
  changes(
    name,
    (task) => {
      task.raise = raise;
      Object.assign(task.settings, more);
    },
    (task) => isPython(task) && !task.body.some((line) => line.startsWith('yield')),
  );

const ONE_RETRY = { retries: '1', retry_delay: 'timedelta(0)' };

const sets = (name: string, settings: Record<string, string>, fits?: (task: Task, build: Build) => boolean): Feature =>
  changes(name, (task) => void Object.assign(task.settings, settings), fits);

const ofDag = (name: string, apply: (build: Build) => void): Feature => ({
  name,
  phase: 'dag',
  apply(build) {
    apply(build);
    return true;
  },
});

const CALLBACKS = [
  'on_execute_callback',
  'on_success_callback',
  'on_failure_callback',
  'on_retry_callback',
  'on_skipped_callback',
] as const;

export const CHANGE_FEATURES: readonly Feature[] = [
  ...TRIGGER_RULE_NAMES.filter((rule) => rule !== 'all_success').map((rule) =>
    sets(`rule ${rule}`, { trigger_rule: `"${rule}"` }, mayHaveRule),
  ),
  raises('fails', { what: 'ValueError' }),
  raises('skips', { what: 'AirflowSkipException' }),
  raises('fails at once', { what: 'AirflowFailException' }, ONE_RETRY),
  raises('fails the first try', { what: 'ValueError', when: 'first try' }, ONE_RETRY),
  raises('fails every try', { what: 'KeyError' }, { retries: '2', retry_delay: 'timedelta(0)' }),
  sets('retries', ONE_RETRY),
  ...CALLBACKS.map((name) => sets(name, { [name]: `called("${name}")` })),
  sets('several callbacks', {
    on_success_callback: '[called("first"), called("second")]',
    on_failure_callback: '[called("bad")]',
  }),
  sets('execute hooks', { pre_execute: 'before', post_execute: 'after' }, ({ maker }) => !maker.startsWith('task.')),
  sets('no xcom', { do_xcom_push: 'False' }),
  sets('depends on past', { depends_on_past: 'True' }),
  sets('one at a time', { max_active_tis_per_dagrun: '1' }, isMapped),
  sets('priority', { priority_weight: '5', weight_rule: '"upstream"' }),
  sets('no template fields', { doc_md: '"""a *word*"""', owner: '"somebody"' }),
  ofDag('native rendering', ({ dag }) => void (dag.settings['render_template_as_native_obj'] = 'True')),
  ofDag('default args', ({ dag, random }) => {
    dag.settings['default_args'] = random.pick([
      '{"retries": 1, "retry_delay": timedelta(0)}',
      '{"on_failure_callback": called("by_default"), "on_success_callback": called("fine")}',
      '{"owner": "team", "trigger_rule": "none_failed"}',
      '{"do_xcom_push": True, "depends_on_past": False, "retries": 0}',
    ]);
  }),
  ofDag('dag callbacks', ({ dag }) => {
    dag.settings['on_success_callback'] = 'called("dag_success")';
    dag.settings['on_failure_callback'] = 'called("dag_failure")';
  }),
  ofDag('start date', ({ dag }) => {
    dag.settings['start_date'] = 'datetime(2023, 5, 1, tzinfo=timezone.utc)';
    dag.settings['catchup'] = 'False';
  }),
  ofDag('strict undefined', ({ dag }) => {
    dag.settings['template_undefined'] = '__import__("jinja2").StrictUndefined';
  }),
];
