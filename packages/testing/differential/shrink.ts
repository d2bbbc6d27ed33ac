/** Smaller versions of a generated DAG, one change each: to find the smallest that still shows a difference. */
import { nodesOf } from './model.ts';
import type { Arguments, Expr, FuzzDag, Node, Task } from './model.ts';

const NONE: Expr = { literal: 'None' };

/** The smaller ones, those that lose most first. */
export function shrunkDags(dag: FuzzDag): FuzzDag[] {
  const changed = (change: (copy: FuzzDag) => void): FuzzDag => {
    const copy = structuredClone(dag);
    change(copy);
    return copy;
  };
  const all = [...nodesOf(dag.children)];
  const ids = all.map(({ id }) => id);
  const found = ids.map((id) => changed((copy) => remove(copy, id)));
  for (const node of all.filter((one) => one.node === 'group')) found.push(changed((copy) => dissolve(copy, node.id)));
  for (const name of Object.keys(dag.settings)) found.push(changed((copy) => delete copy.settings[name]));
  for (const node of all) {
    const edit = (change: (node: Node) => void): void =>
      void found.push(changed((copy) => change(nodeOf(copy, node.id))));
    for (const name of Object.keys(node.settings)) edit((one) => delete one.settings[name]);
    node.after.forEach((_, index) => edit((one) => one.after.splice(index, 1)));
    node.args.forEach((_, index) => edit((one) => one.args.splice(index, 1)));
    shrinkArguments(node.args).forEach((args) => edit((one) => (one.args = args)));
    if (node.node === 'task') {
      if (node.raise) edit((one) => delete (one as Task).raise);
      if (node.times !== undefined) edit((one) => delete (one as Task).times);
      node.body.forEach((_, index) => edit((one) => (one as Task).body.splice(index, 1)));
      if (node.returns !== undefined && node.returns !== '1') edit((one) => ((one as Task).returns = '1'));
    }
    const { expand } = node;
    if (!expand) continue;
    if (expand.by === 'kwargs') {
      for (const over of shrunkExprs(expand.over)) edit((one) => (one.expand = { by: 'kwargs', over }));
    } else {
      for (const over of shrinkArguments(expand.over)) edit((one) => (one.expand = { by: 'expand', over }));
      edit((one) => {
        one.args.push(...expand.over.map(([name]): [string, Expr] => [name, { literal: '1' }]));
        delete one.expand;
      });
    }
  }
  return found.filter((one) => JSON.stringify(one) !== JSON.stringify(dag));
}

function shrinkArguments(args: Arguments): Arguments[] {
  return args.flatMap(([name, value], index) =>
    shrunkExprs(value).map((shrunk): Arguments => args.with(index, [name, shrunk])),
  );
}

function shrunkExprs(expr: Expr): Expr[] {
  if ('literal' in expr)
    return expr.literal === '[1, 2]' || !expr.literal.startsWith('[') ? [] : [{ literal: '[1, 2]' }];
  if ('of' in expr) return [{ literal: '[1, 2]' }, NONE];
  if ('map' in expr) return [expr.map];
  if ('zip' in expr) return [...expr.zip];
  if ('concat' in expr) return [...expr.concat];
  if ('list' in expr)
    return [{ literal: '[1, 2]' }, ...expr.list.map((_, index) => ({ list: expr.list.toSpliced(index, 1) }))];
  if ('dict' in expr) return expr.dict.map((_, index) => ({ dict: expr.dict.toSpliced(index, 1) }));
  return [NONE];
}

function nodeOf(dag: FuzzDag, id: string): Node {
  for (const node of nodesOf(dag.children)) if (node.id === id) return node;
  throw new Error(`there is no ${id}`);
}

/** With everything inside; values of it become None. */
function remove(dag: FuzzDag, id: string): void {
  const gone = new Set([...nodesOf([nodeOf(dag, id)])].map((node) => node.id));
  const drop = (children: Node[]): Node[] => children.filter((node) => !gone.has(node.id));
  dag.children = drop(dag.children);
  for (const node of nodesOf(dag.children)) {
    if (node.node === 'group') {
      node.children = drop(node.children);
      if (node.gives !== undefined && gone.has(node.gives)) delete node.gives;
    } else if (node.teardownOf?.some((other) => gone.has(other))) {
      delete node.teardownOf;
      delete node.wrapper;
    }
    node.after = node.after.filter((other) => !gone.has(other));
    node.args = node.args.map(([name, value]) => [name, without(value, gone)]);
    if (node.expand?.by === 'kwargs') node.expand.over = without(node.expand.over, gone, '[{"a": 1}]');
    else if (node.expand)
      node.expand.over = node.expand.over.map(([name, value]) => [name, without(value, gone, '[1, 2]')]);
  }
}

function without(expr: Expr, gone: ReadonlySet<string>, instead = 'None'): Expr {
  const part = (one: Expr): Expr => without(one, gone, instead);
  if ('of' in expr) return gone.has(expr.of) ? { literal: instead } : expr;
  if ('map' in expr)
    return 'of' in expr.map && gone.has(expr.map.of) ? { literal: instead } : { ...expr, map: part(expr.map) };
  if ('zip' in expr) return { ...expr, zip: expr.zip.map(part) };
  if ('concat' in expr) return { concat: expr.concat.map(part) };
  if ('list' in expr) return { list: expr.list.map((one) => without(one, gone)) };
  if ('dict' in expr) return { dict: expr.dict.map(([key, value]) => [key, without(value, gone)]) };
  return expr;
}

/** What is inside comes in its place; inputs of it become numbers. */
function dissolve(dag: FuzzDag, id: string): void {
  const group = nodeOf(dag, id);
  if (group.node !== 'group') return;
  const names = new Set([...group.args.map(([name]) => name), 'a', 'b', ...expandedNames(group)]);
  for (const node of nodesOf(group.children)) {
    const fixed = (args: Arguments): Arguments =>
      args.map(([name, value]) => [name, 'input' in value && names.has(value.input) ? { literal: '1' } : value]);
    node.args = fixed(node.args);
  }
  const replace = (children: Node[]): Node[] => children.flatMap((node) => (node.id === id ? group.children : [node]));
  const inside = group.gives;
  const all = [...nodesOf(dag.children)];
  dag.children = replace(dag.children);
  for (const node of all) if (node.node === 'group' && node.id !== id) node.children = replace(node.children);
  const last = group.children.at(-1)?.id;
  for (const node of nodesOf(dag.children)) {
    node.after = node.after.flatMap((other) => (other === id ? (last === undefined ? [] : [last]) : [other]));
    const renamed = (expr: Expr): Expr =>
      'of' in expr && expr.of === id ? (inside === undefined ? NONE : { ...expr, of: inside }) : expr;
    node.args = node.args.map(([name, value]) => [name, renamed(value)]);
  }
}

const expandedNames = ({ expand }: Node): string[] =>
  expand?.by === 'expand' ? expand.over.map(([name]) => name) : [];
