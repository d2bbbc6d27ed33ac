/** Writes a generated DAG as the Python file that an author would write. */
import { nodesOf } from './model.ts';
import type { Arguments, Expr, FuzzDag, Group, Node, Task } from './model.ts';

const HEADER = `from collections import OrderedDict
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from airflow.exceptions import AirflowFailException, AirflowSkipException
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import BranchPythonOperator, PythonOperator, ShortCircuitOperator
from airflow.sdk import DAG, Asset, AssetAlias, Metadata, Param, setup, task, task_group, teardown

from fuzz_probe import Defers, Echo, Wait, after, before, called, count, note, record

`;

const INDENT = '    ';

export function renderDag(dag: FuzzDag): string {
  const kinds = new Map([...nodesOf(dag.children)].map((node) => [node.id, node]));
  const settings = Object.entries({ schedule: 'None', ...dag.settings });
  const lines = [
    `with DAG(${[`"${dag.id}"`, ...settings.map(([name, value]) => `${name}=${value}`)].join(', ')}):`,
    ...indented(renderChildren(dag.children, kinds)),
  ];
  // Names of assets contain that of their DAG, so that DAGs have nothing to do with each other.
  return `${HEADER}${lines.join('\n').replaceAll('@_', `${dag.id}_`)}\n`;
}

type Nodes = ReadonlyMap<string, Node>;
const indented = (lines: readonly string[]): string[] => lines.map((line) => (line === '' ? '' : `${INDENT}${line}`));
const variable = (id: string): string => `v_${id}`;

function renderChildren(children: readonly Node[], nodes: Nodes): string[] {
  const lines = children.flatMap((node) => [
    ...(node.node === 'task' ? renderTask(node, nodes) : renderGroup(node, nodes)),
    ...node.after.map((other) => `${variable(other)} >> ${variable(node.id)}`),
  ]);
  return lines.length > 0 ? lines : ['pass'];
}

function renderGroup(group: Group, nodes: Nodes): string[] {
  const names = [...group.args.map(([name]) => name), ...expandedNames(group)];
  const settings = Object.entries(group.settings).map(([name, value]) => `${name}=${value}`);
  const gives = group.gives === undefined ? [] : [`return ${reference(group.gives, nodes)}`];
  return [
    `@task_group(${[`group_id="${group.id}"`, ...settings].join(', ')})`,
    `def ${group.id}(${names.join(', ')}):`,
    ...indented([...renderChildren(group.children, nodes), ...gives]),
    '',
    `${variable(group.id)} = ${calling(group.id, group, nodes)}`,
  ];
}

/** A group may be expanded over argument sets, whose names are those of its function. */
function expandedNames({ expand }: Node): string[] {
  if (expand === undefined) return [];
  return expand.by === 'expand' ? expand.over.map(([name]) => name) : ['a', 'b=None'];
}

function renderTask(task: Task, nodes: Nodes): string[] {
  if (task.kind === 'taskflow') return renderTaskflow(task, nodes);
  const fixed: Arguments = Object.entries(task.settings).map(([name, value]) => [name, { literal: value }]);
  const called: Arguments = [['task_id', { literal: `"${task.id}"` }], ...fixed];
  const body: string[] = [];
  if (task.kind === 'python') {
    called.push(['python_callable', { literal: `${task.id}_body` }]);
    body.push(`def ${task.id}_body(*args, ti=None, **kwargs):`);
    const given = 'note(ti, args=list(args), kwargs={k: kwargs[k] for k in "ab" if k in kwargs})';
    body.push(...indented([given, ...functionBody(task)]), '');
  }
  return [...body, ...makingTimes(task, callingOperator({ ...task, args: [...called, ...task.args] }, nodes))];
}

function renderTaskflow(task: Task, nodes: Nodes): string[] {
  const settings = Object.entries(task.settings).map(([name, value]) => `${name}=${value}`);
  const names = [...task.args.map(([name]) => name), ...expandedNames(task)];
  const noted = names.map((name) => name.replace(/=.*/, ''));
  const ordered = [
    ...names.filter((name) => !name.includes('=')),
    ...names.filter((name) => name.includes('=')),
    'ti=None',
  ];
  return [
    ...(task.wrapper === undefined ? [] : [`@${task.wrapper}`]),
    `@${task.maker}(${[`task_id="${task.id}"`, ...settings].join(', ')})`,
    `def ${task.id}(${[...new Set(ordered)].join(', ')}, **context):`,
    ...indented([
      `note(${['ti', ...new Set(noted.map((name) => `${name}=${name}`))].join(', ')})`,
      ...functionBody(task),
    ]),
    '',
    ...makingTimes(task, calling(task.id, task, nodes)),
  ];
}

function makingTimes(task: Task, call: string): string[] {
  const teardown =
    task.teardownOf === undefined ? '' : `.as_teardown(setups=[${task.teardownOf.map(variable).join(', ')}])`;
  if (task.times === undefined) return [`${variable(task.id)} = ${call}${teardown}`];
  return [`for n in range(${task.times}):`, `${INDENT}${variable(task.id)} = ${call}${teardown}`];
}

function functionBody({ body, raise, returns }: Task): string[] {
  const conditions = { 'first try': 'ti.try_number < 2', 'item 0': 'ti.map_index == 0', 'item 1': 'ti.map_index == 1' };
  const lines = [...body];
  if (raise) {
    const doing = `raise ${raise.what}("planned")`;
    lines.push(raise.when === undefined ? doing : `if ${conditions[raise.when]}: ${doing}`);
  }
  if (returns !== undefined) lines.push(`return ${returns}`);
  return lines;
}

/** Of a function that a decorator has made a task or a group. */
function calling(name: string, node: Node, nodes: Nodes): string {
  const args = renderArguments(node.args, nodes);
  if (node.expand === undefined) return `${name}(${args})`;
  return `${name}${args === '' ? '' : `.partial(${args})`}${expanding(node, nodes)}`;
}

function callingOperator(task: Task, nodes: Nodes): string {
  const args = renderArguments(task.args, nodes);
  if (task.expand === undefined) return `${task.maker}(${args})`;
  return `${task.maker}.partial(${args})${expanding(task, nodes)}`;
}

function expanding({ expand }: Node, nodes: Nodes): string {
  if (expand === undefined) return '';
  if (expand.by === 'kwargs') return `.expand_kwargs(${renderExpr(expand.over, nodes)})`;
  return `.expand(${renderArguments(expand.over, nodes)})`;
}

const renderArguments = (args: Arguments, nodes: Nodes): string =>
  args.map(([name, value]) => `${name}=${renderExpr(value, nodes)}`).join(', ');

function reference(id: string, nodes: Nodes): string {
  const node = nodes.get(id);
  const isOperator = node?.node === 'task' && node.kind !== 'taskflow';
  return isOperator ? `${variable(id)}.output` : variable(id);
}

function renderExpr(expr: Expr, nodes: Nodes): string {
  const all = (parts: readonly Expr[]): string => parts.map((part) => renderExpr(part, nodes)).join(', ');
  if ('literal' in expr) return expr.literal;
  if ('input' in expr) return expr.input;
  if ('of' in expr) return `${reference(expr.of, nodes)}${expr.key === undefined ? '' : `["${expr.key}"]`}`;
  if ('map' in expr) return `${renderExpr(expr.map, nodes)}.map(${expr.by})`;
  if ('list' in expr) return `[${all(expr.list)}]`;
  if ('dict' in expr) return `{${expr.dict.map(([key, value]) => `"${key}": ${renderExpr(value, nodes)}`).join(', ')}}`;
  if ('concat' in expr) return `${all(expr.concat.slice(0, 1))}.concat(${all(expr.concat.slice(1))})`;
  const fill = expr.fill === undefined ? '' : `, fillvalue=${expr.fill}`;
  return `${all(expr.zip.slice(0, 1))}.zip(${all(expr.zip.slice(1))}${fill})`;
}
