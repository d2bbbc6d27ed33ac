// Checks that the scheduler can run a spec. The shape comes first; the meaning of a spec is checked only if its shape
// is valid.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Compile } from 'typebox/compile';
import { Set as setFormat } from 'typebox/format';
import { Compile as CompileJsonSchema } from 'typebox/schema';
import { Check } from 'typebox/value';
import { approximated } from './exact-json.ts';
import { hasInvisible, isDagId, isTaskId } from './ids.ts';
import { PARAM_FORMATS } from './param-formats.ts';
import type { ParamSpec } from './schema-parts.ts';
import { CompiledSpec } from './schema.ts';
import { findCycle } from './task-graph.ts';
import { timetableProblems } from './timetables/validate.ts';

export interface SpecProblem {
  /** The place: `tasks[load].upstream_task_ids`. */
  readonly location: string;
  readonly message: string;
}

// A broken spec can have thousands of errors. The first few are enough.
const MAX_SCHEMA_PROBLEMS = 20;

let compiled: ReturnType<typeof Compile<typeof CompiledSpec>> | undefined;
const shape = () => (compiled ??= Compile(CompiledSpec));

/**
 * After this many tasks, compiling the schema pays off. Compiling delays the start of a process, and a command or a
 * worker often checks only a DAG or two.
 */
const WORTH_COMPILING = 50;
let tasksSeen = 0;

function hasShape(value: unknown): value is CompiledSpec {
  const { tasks } = (value ?? {}) as { tasks?: unknown };
  tasksSeen += Array.isArray(tasks) ? tasks.length : 1;
  return tasksSeen > WORTH_COMPILING ? shape().Check(value) : Check(CompiledSpec, value);
}

/** Returns every problem as `location: message`. An empty list means that the spec is valid. */
export function validateSpec(value: unknown): string[] {
  return textsOf(specProblems(value));
}

const textsOf = (problems: readonly SpecProblem[]): string[] =>
  problems.map(({ location, message }) => (location ? `${location}: ${message}` : message));

/** Does the same in turns with other work, for DAGs with thousands of tasks. */
export async function validateSpecInTurns(value: unknown): Promise<string[]> {
  for (const { part, cut } of partsOf(value)) {
    if (!hasShape(part)) return textsOf(shapeProblems(part, cut));
    await nextTurn();
  }
  const problems: SpecProblem[] = [];
  for (const find of MEANING) {
    problems.push(...find(value as CompiledSpec));
    await nextTurn();
  }
  return textsOf(problems);
}

const LISTS = ['tasks', 'edges', 'groups'] as const;
const ITEMS_AT_ONCE = 200;

/** The list of which a part has only some items, and the index of the first of these in the whole list. */
type Cut = { readonly list: string; readonly from: number };

/**
 * Yields parts of the spec, each with some of the tasks, edges and groups. If every part has a valid shape, so has the
 * whole.
 */
function* partsOf(value: unknown): Generator<{ part: unknown; cut?: Cut }> {
  const whole = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const lists = new Map<string, unknown[]>();
  for (const name of LISTS) {
    const list = whole[name];
    if (Array.isArray(list) && list.length > ITEMS_AT_ONCE) lists.set(name, list);
  }
  const first = Object.fromEntries([...lists].map(([name, list]) => [name, list.slice(0, ITEMS_AT_ONCE)]));
  yield { part: lists.size === 0 ? value : { ...whole, ...first } };
  for (const [name, list] of lists) {
    for (let from = ITEMS_AT_ONCE; from < list.length; from += ITEMS_AT_ONCE) {
      const part = { ...whole, ...first, [name]: list.slice(from, from + ITEMS_AT_ONCE) };
      yield { part, cut: { list: name, from } };
    }
  }
}

export function specProblems(value: unknown): SpecProblem[] {
  if (!hasShape(value)) return shapeProblems(value);
  return MEANING.flatMap((find) => find(value));
}

/** Checks of meaning, in the order of their messages. */
const MEANING: readonly ((spec: CompiledSpec) => SpecProblem[])[] = [
  idProblems,
  scheduleProblems,
  groupProblems,
  edgeProblems,
  pathProblems,
  referenceProblems,
  paramProblems,
  cycleProblems,
];

function shapeProblems(value: unknown, cut?: Cut): SpecProblem[] {
  const version = (value as { schema_version?: unknown } | null)?.schema_version;
  if (version !== undefined && version !== CompiledSpec.properties.schema_version.const) {
    return [
      {
        location: 'schema_version',
        message: `version ${JSON.stringify(version)} is not supported; compile the DAG again`,
      },
    ];
  }
  const problems = new Map<string, SpecProblem>();
  for (const error of shape().Errors(value)) {
    // An unknown key is reported twice, once as "schema is false". The other report names it.
    if (error.keyword === 'boolean') continue;
    const location = readablePath(error.instancePath, value, cut);
    const detail = error.keyword === 'additionalProperties' ? `: ${error.params.additionalProperties.join(', ')}` : '';
    const missing = error.keyword === 'required' ? `: ${error.params.requiredProperties.join(', ')}` : '';
    problems.set(`${location} ${error.message}`, { location, message: `${error.message}${detail}${missing}` });
    if (problems.size >= MAX_SCHEMA_PROBLEMS) break;
  }
  return [...problems.values()];
}

/** Turns `/tasks/3/policy/retries` into `tasks[load].policy.retries`, because ids are more readable than indexes. */
function readablePath(pointer: string, value: unknown, cut?: Cut): string {
  let node = value;
  let text = '';
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const inArray = Array.isArray(node);
    node = (node as Record<string, unknown> | undefined)?.[key];
    const name = (node as { task_id?: unknown; group_id?: unknown; name?: unknown } | null | undefined) ?? {};
    const index = cut && text === cut.list ? Number(key) + cut.from : key;
    const id = [name.task_id, name.group_id, name.name].find((candidate) => typeof candidate === 'string') ?? index;
    text += inArray ? `[${String(id)}]` : `${text ? '.' : ''}${key}`;
  }
  return text;
}

function idProblems({ dag, tasks }: CompiledSpec): SpecProblem[] {
  const problems: SpecProblem[] = [];
  if (!isDagId(dag.dag_id))
    problems.push({ location: 'dag.dag_id', message: `${shown(dag.dag_id)} is not a valid DAG id` });
  const seen = new Set<string>();
  for (const { task_id } of tasks) {
    if (!isTaskId(task_id))
      problems.push({ location: `tasks[${task_id}]`, message: `${shown(task_id)} is not a valid task id` });
    if (seen.has(task_id))
      problems.push({ location: `tasks[${task_id}]`, message: `task id '${task_id}' is used twice` });
    seen.add(task_id);
  }
  return problems;
}

/** Paths become names of files in a checkout and are shown to people. */
function pathProblems({ source, files }: CompiledSpec): SpecProblem[] {
  return [{ location: 'source.path', path: source.path }, ...files.map(({ path }) => ({ location: 'files', path }))]
    .filter(({ path }) => hasInvisible(path))
    .map(({ location, path }) => ({
      location,
      message: `${escaped(path)} has a character that nobody can see, or one that turns the direction of text: rename the file`,
    }));
}

/** Quotes an id. If it contains invisible characters, they are escaped. */
const shown = (id: string): string => (hasInvisible(id) ? escaped(id) : `'${id}'`);

/** Quotes a text and escapes every character that is not printable ASCII. */
const escaped = (text: string): string =>
  `'${text.replaceAll(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)}'`;

function scheduleProblems({ schedule, dag }: CompiledSpec): SpecProblem[] {
  const problems = timetableProblems(schedule).map(({ path, message }) => ({ location: `schedule.${path}`, message }));
  if (schedule.type === 'continuous' && dag.max_active_runs > 1) {
    problems.push({
      location: 'dag.max_active_runs',
      message: 'a continuous schedule takes one run at a time: set it to 1',
    });
  }
  return problems;
}

function groupProblems({ groups, tasks }: CompiledSpec): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const root = groups[0];
  if (root?.group_id !== null || groups.filter((group) => group.group_id === null).length !== 1) {
    problems.push({ location: 'groups', message: 'the first group, and only it, must be the root (group_id null)' });
  }
  const taskGroups = new Map(tasks.map((task) => [task.task_id, task.group_id]));
  const parents = new Map(groups.map((group) => [group.group_id, group.parent_id]));
  if (parents.size !== groups.length) problems.push({ location: 'groups', message: 'a group id is used twice' });
  const placed = new Set<string>();
  for (const group of groups) {
    const location = `groups[${group.group_id ?? 'root'}]`;
    if (!parents.has(group.parent_id)) {
      problems.push({ location, message: `its parent '${group.parent_id ?? 'root'}' does not exist` });
    }
    for (const { kind, id } of group.children) {
      const parent = (kind === 'task' ? taskGroups : parents).get(id);
      if (parent === undefined) problems.push({ location, message: `child ${kind} '${id}' does not exist` });
      else if (parent !== group.group_id)
        problems.push({ location, message: `child ${kind} '${id}' says it is in '${parent ?? 'root'}'` });
      if (placed.has(`${kind} ${id}`)) problems.push({ location, message: `child ${kind} '${id}' is listed twice` });
      placed.add(`${kind} ${id}`);
    }
  }
  for (const task of tasks) {
    if (!placed.has(`task ${task.task_id}`)) {
      problems.push({ location: `tasks[${task.task_id}].group_id`, message: `no group lists it as a child` });
    }
  }
  return problems;
}

function edgeProblems({ tasks, edges }: CompiledSpec): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  const pairs = new Set(edges.map((edge) => `${edge.from}\0${edge.to}`));
  if (pairs.size !== edges.length) problems.push({ location: 'edges', message: 'an edge is listed twice' });
  let count = 0;
  for (const task of tasks) {
    for (const [side, other] of [
      ['upstream_task_ids', 'downstream_task_ids'],
      ['downstream_task_ids', 'upstream_task_ids'],
    ] as const) {
      for (const id of task[side]) {
        const location = `tasks[${task.task_id}].${side}`;
        const far = byId.get(id);
        if (!far) problems.push({ location, message: `task '${id}' does not exist` });
        else if (!far[other].includes(task.task_id))
          problems.push({ location, message: `task '${id}' does not say so in its ${other}` });
        if (side === 'downstream_task_ids') {
          count += 1;
          if (!pairs.has(`${task.task_id}\0${id}`))
            problems.push({ location, message: `edge to '${id}' is missing in edges` });
        }
      }
    }
  }
  if (count !== edges.length)
    problems.push({ location: 'edges', message: `has ${edges.length} edges, the tasks have ${count}` });
  return problems;
}

function referenceProblems({ tasks, groups, files }: CompiledSpec): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const ids = new Set(tasks.map((task) => task.task_id));
  const paths = new Set(files.map((file) => file.path));
  const check = (location: string, value: unknown): void => {
    for (const id of referencedTasks(value)) {
      if (!ids.has(id))
        problems.push({ location, message: `refers to the value of task '${id}', which does not exist` });
    }
  };
  for (const task of tasks) {
    const location = `tasks[${task.task_id}]`;
    check(`${location}.arguments`, task.arguments);
    check(`${location}.templates`, task.templates);
    check(`${location}.mapping`, task.mapping);
    for (const { path } of task.template_files) {
      if (!paths.has(path))
        problems.push({ location: `${location}.template_files`, message: `file '${path}' is not in files` });
    }
  }
  for (const group of groups) check(`groups[${group.group_id ?? 'root'}].mapping`, group.mapping);
  return problems;
}

/** Returns the task ids in nested `{"__type": "xcom"}` tags. */
function referencedTasks(value: unknown, found: string[] = []): string[] {
  if (Array.isArray(value)) for (const item of value) referencedTasks(item, found);
  else if (value !== null && typeof value === 'object') {
    const tagged = value as Record<string, unknown>;
    if (tagged['__type'] === 'xcom' && typeof tagged['task_id'] === 'string') found.push(tagged['task_id']);
    for (const item of Object.values(tagged)) referencedTasks(item, found);
  }
  return found;
}

/** A default must satisfy its own schema. Otherwise the first scheduled run would be refused. */
function paramProblems({ params, tasks }: CompiledSpec): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const check = (prefix: string, list: readonly ParamSpec[]): void => {
    const seen = new Set<string>();
    for (const param of list) {
      const location = `${prefix}[${param.name}]`;
      if (seen.has(param.name)) problems.push({ location, message: 'the param is declared twice' });
      seen.add(param.name);
      // A null default means that the trigger form asks for a value, even if the type does not allow null.
      if (!param.has_default || param.default === null || Object.keys(param.schema).length === 0) continue;
      const message = defaultProblem(param);
      if (message) problems.push({ location, message });
    }
  };
  check('params', params);
  for (const task of tasks) check(`tasks[${task.task_id}].params`, task.params);
  return problems;
}

// Only schemas of authors use these formats, so setting them globally is safe.
for (const [name, check] of Object.entries(PARAM_FORMATS)) setFormat(name, check);

function defaultProblem(param: ParamSpec): string | undefined {
  try {
    const [valid, errors] = CompileJsonSchema(approximated(param.schema) as object).Errors(approximated(param.default));
    return valid
      ? undefined
      : `its default ${JSON.stringify(param.default)} ${errors[0]?.message ?? 'does not fit its schema'}`;
  } catch (error) {
    return `its schema cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function cycleProblems({ tasks }: CompiledSpec): SpecProblem[] {
  const cycle = findCycle(tasks);
  return cycle
    ? [{ location: 'tasks', message: `the tasks wait for each other in a circle: ${cycle.join(' >> ')}` }]
    : [];
}
