/** A generated DAG file as data, which can be rendered to Python and shrunk. Text in it is Python source. */

/** What an argument is made of. `of` names a task or a group further up. */
export type Expr =
  | { literal: string }
  | { of: string; key?: string }
  | { input: string }
  | { map: Expr; by: string }
  | { zip: Expr[]; fill?: string }
  | { concat: Expr[] }
  | { list: Expr[] }
  | { dict: [string, Expr][] };

export type Arguments = [string, Expr][];
type Expansion = { by: 'expand'; over: Arguments } | { by: 'kwargs'; over: Expr };

/** How a task ends instead of returning. `when`: only in the first try, or only of one item. */
type Raise = { what: string; when?: 'first try' | 'item 0' | 'item 1' };

export type Task = {
  node: 'task';
  id: string;
  kind: 'taskflow' | 'python' | 'empty' | 'bash' | 'operator';
  /** Decorator of taskflow, class of others. */
  maker: string;
  /** A decorator around that one: setup or teardown. */
  wrapper?: string;
  args: Arguments;
  expand?: Expansion;
  settings: Record<string, string>;
  /** Before it returns. */
  body: string[];
  raise?: Raise;
  returns?: string;
  after: string[];
  /** Makes it a teardown, of these setups. */
  teardownOf?: string[];
  /** Called so often in a loop. */
  times?: number;
};

export type Group = {
  node: 'group';
  id: string;
  args: Arguments;
  expand?: Expansion;
  settings: Record<string, string>;
  children: Node[];
  after: string[];
  /** A task inside, whose output is that of the group. */
  gives?: string;
};

export type Node = Task | Group;
export type FuzzDag = { id: string; settings: Record<string, string>; children: Node[] };

export const isMapped = ({ expand }: Node): boolean => expand !== undefined;

/** Every node, groups before what they contain. */
export function* nodesOf(children: readonly Node[]): Generator<Node> {
  for (const node of children) {
    yield node;
    if (node.node === 'group') yield* nodesOf(node.children);
  }
}

/** Tasks and groups that an argument takes values from. */
export function sourcesOf(expr: Expr): string[] {
  if ('of' in expr) return [expr.of];
  if ('map' in expr) return sourcesOf(expr.map);
  const parts =
    'zip' in expr
      ? expr.zip
      : 'concat' in expr
        ? expr.concat
        : 'list' in expr
          ? expr.list
          : 'dict' in expr
            ? expr.dict.map(([, value]) => value)
            : [];
  return parts.flatMap(sourcesOf);
}

export const argumentsOf = ({ args, expand }: Node): Expr[] => [
  ...args.map(([, value]) => value),
  ...(expand === undefined ? [] : expand.by === 'kwargs' ? [expand.over] : expand.over.map(([, value]) => value)),
];
