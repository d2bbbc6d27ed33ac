/** What differs between two compiled specs of a DAG, and why. Pure. */
import { canonicalJson } from '@svc/spec/canonical.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';

/**
 * Why a task changes. `code`: the function that it calls, a helper module or a template file. `other`: what is only
 * shown, such as documentation.
 */
export type TaskReason =
  | 'code'
  | 'arguments'
  | 'params'
  | 'environment'
  | 'policy'
  | 'dependencies'
  | 'mapping'
  | 'assets'
  | 'callbacks'
  | 'operator'
  | 'other';

export type TaskChange = { task_id: string; change: 'added' | 'removed' | 'changed'; reasons: TaskReason[] };

export type DagReason =
  | 'schedule'
  | 'params'
  | 'settings'
  | 'secrets'
  | 'environment'
  | 'callbacks'
  | 'code'
  | 'plugins';

export type SpecDifference = {
  tasks: TaskChange[];
  /** Of the DAG as a whole. */
  reasons: DagReason[];
  /** Helper modules and template files that differ. Every task of the file may use them. */
  files: string[];
  connections: { added: string[]; removed: string[] };
  variables: { added: string[]; removed: string[] };
};

const REASONS: Readonly<Record<keyof TaskSpec, TaskReason>> = {
  task_id: 'other',
  label: 'other',
  display_name: 'other',
  group_id: 'other',
  operator: 'operator',
  arguments: 'arguments',
  template_fields: 'operator',
  template_fields_renderers: 'other',
  templates: 'arguments',
  template_files: 'arguments',
  policy: 'policy',
  sensor: 'policy',
  start_trigger: 'operator',
  resources: 'environment',
  env: 'environment',
  execution: 'environment',
  executor_config: 'environment',
  upstream_task_ids: 'dependencies',
  downstream_task_ids: 'dependencies',
  is_setup: 'dependencies',
  is_teardown: 'dependencies',
  on_failure_fail_dagrun: 'policy',
  mapping: 'mapping',
  inlets: 'assets',
  outlets: 'assets',
  params: 'params',
  callbacks: 'callbacks',
  hooks: 'callbacks',
  docs: 'other',
};

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null);

/** Returns undefined when nothing differs. `before`: undefined for a new DAG. */
export function compareSpecs(before: CompiledSpec | undefined, after: CompiledSpec): SpecDifference | undefined {
  if (before && isSame(before, after)) return undefined;
  const files = changedFiles(before, after);
  return {
    tasks: changedTasks(before, after, files),
    reasons: before ? dagReasons(before, after, files) : [],
    files: before ? files : [],
    connections: changedNames(before?.secrets.connections ?? [], after.secrets.connections),
    variables: changedNames(before?.secrets.variables ?? [], after.secrets.variables),
  };
}

const changedNames = (before: readonly string[], after: readonly string[]) => ({
  added: after.filter((name) => !before.includes(name)),
  removed: before.filter((name) => !after.includes(name)),
});

const hashes = (spec: CompiledSpec | undefined): Map<string, string> =>
  new Map([...(spec?.source.modules ?? []), ...(spec?.files ?? [])].map(({ path, sha256 }) => [path, sha256]));

function changedFiles(before: CompiledSpec | undefined, after: CompiledSpec): string[] {
  const [old, now] = [hashes(before), hashes(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter((path) => old.get(path) !== now.get(path)).sort();
}

function changedTasks(before: CompiledSpec | undefined, after: CompiledSpec, files: readonly string[]): TaskChange[] {
  const old = new Map((before?.tasks ?? []).map((task) => [task.task_id, task]));
  const changes = after.tasks.flatMap((task): TaskChange[] => {
    const had = old.get(task.task_id);
    old.delete(task.task_id);
    if (!before || !had) return [{ task_id: task.task_id, change: 'added', reasons: [] }];
    const reasons = taskReasons({ had, task, before, after, files });
    return reasons.length > 0 ? [{ task_id: task.task_id, change: 'changed', reasons }] : [];
  });
  return [...changes, ...[...old.keys()].map((id): TaskChange => ({ task_id: id, change: 'removed', reasons: [] }))];
}

function taskReasons(input: {
  had: TaskSpec;
  task: TaskSpec;
  before: CompiledSpec;
  after: CompiledSpec;
  files: readonly string[];
}): TaskReason[] {
  const { had, task, before, after, files } = input;
  const reasons = new Set<TaskReason>();
  for (const [name, reason] of Object.entries(REASONS) as [keyof TaskSpec, TaskReason][])
    if (!isSame(had[name], task[name])) reasons.add(reason);
  const usesFile = task.template_files.some(({ path }) => files.includes(path));
  if (usesFile || functionOf(task, after.source.text) !== functionOf(had, before.source.text)) reasons.add('code');
  return [...reasons];
}

/** Returns the text of the function that the task calls, as the DAG file has it. */
function functionOf({ arguments: given }: TaskSpec, source: string): string {
  const called = (given as Record<string, unknown>)['python_callable'] as { qualname?: unknown } | undefined;
  const name = typeof called?.qualname === 'string' ? called.qualname.split('.').at(-1) : undefined;
  return name === undefined ? '' : definitionOf(name, source);
}

/** Returns the lines from the `def` to the next line that is indented as little. Comments and blank lines do not count. */
export function definitionOf(name: string, source: string): string {
  const lines = source.split('\n');
  const first = lines.findIndex((line) =>
    new RegExp(`^\\s*(async\\s+)?def\\s+${name.replaceAll(/\W/g, '')}\\b`).test(line),
  );
  if (first < 0) return '';
  const indent = indentOf(lines[first] ?? '');
  const rest = lines.slice(first + 1);
  const end = rest.findIndex((line) => isCode(line) && indentOf(line) <= indent && !/^\s*[)\]}]/.test(line));
  return [lines[first], ...(end < 0 ? rest : rest.slice(0, end))].filter((line = '') => isCode(line)).join('\n');
}

const isCode = (line: string): boolean => line.trim() !== '' && !line.trim().startsWith('#');
const indentOf = (line: string): number => line.length - line.trimStart().length;

function dagReasons(before: CompiledSpec, after: CompiledSpec, files: readonly string[]): DagReason[] {
  const differs: [DagReason, boolean][] = [
    ['schedule', !isSame(before.schedule, after.schedule)],
    ['params', !isSame(before.params, after.params)],
    ['settings', !isSame(before.dag, after.dag)],
    ['secrets', !isSame(before.secrets, after.secrets)],
    ['environment', !isSame(before.project, after.project)],
    ['callbacks', !isSame(before.callbacks, after.callbacks)],
    ['code', files.length > 0 || before.source.text !== after.source.text],
    ['plugins', !isSame(before.plugins, after.plugins)],
  ];
  return differs.flatMap(([reason, isChanged]) => (isChanged ? [reason] : []));
}
