/** Puts a DAG together from a seed. Features (features-*.ts) add nodes to it or change those that are there. */
import { createRandom } from '../chaos/random.ts';
import type { Random } from '../chaos/random.ts';
import { isMapped } from './model.ts';
import type { Expr, FuzzDag, Group, Node, Task } from './model.ts';

/** What a task returns, as far as others can use it. */
export type Gives = 'number' | 'numbers' | 'sets' | 'dict' | 'text' | 'value' | 'nothing';

/** Scopes are made first, then tasks, then these are changed. */
export type Phase = 'dag' | 'scope' | 'task' | 'change';
/** Returns false if the feature cannot be combined with what the DAG already has. */
export type Feature = { name: string; phase: Phase; apply(build: Build): boolean };

export type Scope = { children: Node[]; around: Scope | undefined; group: Group | undefined };

/** Values of all kinds that both sides can carry between tasks. */
const VALUES = [
  '5',
  '-1',
  '0',
  '1.5',
  '1.0',
  'True',
  'None',
  '"text"',
  '""',
  '"ümläut {{ ds }}"',
  '[]',
  '[1, [2, None]]',
  '{"a": 1, "b": {"c": [2]}}',
  '{}',
  '(1, 2)',
  '(1, (2, [3]))',
  '{1, 2}',
  '[(1, 2), {3}]',
  'datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone.utc)',
  'date(2024, 1, 2)',
  'timedelta(days=1, seconds=2)',
  'Decimal("1.50")',
  '{"b": 1, "a": 2}',
  '{"when": datetime(2024, 1, 2, tzinfo=timezone.utc)}',
] as const;

/** No templates in `sets`: from expand_kwargs(), Airflow renders what another task has returned, and svc never does. */
const RETURNS: Record<Gives, readonly string[]> = {
  number: ['5', '2', '0'],
  numbers: ['[1, 2]', '[3]', '[0, 1, 2]', '[]', '(4, 5)'],
  sets: ['[{"a": 1}, {"a": 2}]', '[{"a": 1, "b": 2}]', '[{"a": [1]}, {"a": "x", "b": None}]'],
  dict: ['{"a": 1, "b": [2]}', '{"a": None, "b": "x"}'],
  text: ['"text"', '"{{ ds }}"'],
  value: VALUES,
  nothing: ['None'],
};

export class Build {
  readonly random: Random;
  readonly dag: FuzzDag;
  readonly scopes: Scope[];
  readonly #gives = new Map<string, Gives>();
  readonly #scopeOf = new Map<string, Scope>();
  #count = 0;

  constructor({ seed, id }: { seed: number; id: string }) {
    this.random = createRandom(seed);
    this.dag = { id, settings: {}, children: [] };
    this.scopes = [{ children: this.dag.children, around: undefined, group: undefined }];
  }

  chance(percent: number): boolean {
    return this.random.below(100) < percent;
  }

  newId(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#count}`;
  }

  /** A place for a new node. Nothing can be mapped inside of a mapped group. */
  scope({ mayMap = false, isRoot = false }: { mayMap?: boolean; isRoot?: boolean } = {}): Scope {
    const root = this.scopes.slice(0, 1);
    return this.random.pick(isRoot ? root : mayMap ? this.scopes.filter((one) => !this.isInMapped(one)) : this.scopes);
  }

  isInMapped(scope: Scope): boolean {
    for (let one: Scope | undefined = scope; one; one = one.around) if (one.group && isMapped(one.group)) return true;
    return false;
  }

  scopeOf(node: Node): Scope {
    const scope = this.#scopeOf.get(node.id);
    if (!scope) throw new Error(`${node.id} is nowhere`);
    return scope;
  }

  add(scope: Scope, task: Partial<Task> & { gives?: Gives } = {}): Task {
    const { gives = 'value', ...given } = task;
    const made: Task = {
      node: 'task',
      id: this.newId('t'),
      kind: 'taskflow',
      maker: 'task',
      args: [],
      settings: {},
      body: [],
      after: [],
      // A feature gives the same objects to each DAG, and other features change them.
      ...structuredClone(given),
    };
    if (made.kind === 'taskflow' && made.returns === undefined && gives !== 'nothing')
      made.returns = this.random.pick(RETURNS[gives]);
    scope.children.push(made);
    this.#gives.set(made.id, gives);
    this.#scopeOf.set(made.id, scope);
    return made;
  }

  addGroup(scope: Scope, group: Partial<Group> = {}): Scope {
    const made: Group = {
      node: 'group',
      id: this.newId('g'),
      args: [],
      settings: {},
      children: [],
      after: [],
      ...structuredClone(group),
    };
    scope.children.push(made);
    this.#gives.set(made.id, 'value');
    this.#scopeOf.set(made.id, scope);
    const inside: Scope = { children: made.children, around: scope, group: made };
    this.scopes.push(inside);
    return inside;
  }

  /** Nodes that something at the end of the scope can take values from, or come after. */
  before(scope: Scope, end: Node | undefined = undefined): Node[] {
    const index = end === undefined ? -1 : scope.children.indexOf(end);
    const own = index < 0 ? scope.children : scope.children.slice(0, index);
    return [...(scope.around === undefined ? [] : this.before(scope.around, scope.group)), ...own];
  }

  givesOf(node: Node): Gives {
    return this.#gives.get(node.id) ?? 'value';
  }

  setGives(node: Node, gives: Gives): void {
    this.#gives.set(node.id, gives);
  }

  tasks(fits: (task: Task) => boolean = () => true): Task[] {
    return [...this.#scopeOf.values()]
      .flatMap(({ children }) => children)
      .filter((node, index, all): node is Task => node.node === 'task' && all.indexOf(node) === index && fits(node));
  }

  /** One that fits, or else a new one. */
  source(scope: Scope, gives: Gives): Expr {
    const found = this.before(scope).filter(
      (node) => node.node === 'task' && !isMapped(node) && this.givesOf(node) === gives,
    );
    if (found.length > 0 && this.chance(70)) return { of: this.random.pick(found).id };
    return { of: this.add(scope, { gives }).id };
  }

  /** Anything at all: a literal, an input of the group, an output further up. */
  value(scope: Scope): Expr {
    const found = this.before(scope).filter((node) => node.node === 'task' || node.gives !== undefined);
    const inputs = this.inputs(scope);
    if (inputs.length > 0 && this.chance(40)) return { input: this.random.pick(inputs) };
    if (found.length > 0 && this.chance(65)) return { of: this.random.pick(found).id };
    return { literal: this.random.pick(VALUES) };
  }

  inputs(scope: Scope): string[] {
    const names: string[] = [];
    for (let one: Scope | undefined = scope; one; one = one.around) {
      const { group } = one;
      if (!group) continue;
      names.push(...group.args.map(([name]) => name));
      if (group.expand?.by === 'expand') names.push(...group.expand.over.map(([name]) => name));
      if (group.expand?.by === 'kwargs') names.push('a');
    }
    return [...new Set(names)];
  }

  /** Most new tasks depend on something that is there. */
  connect(scope: Scope, task: Task): void {
    const found = this.before(scope, task);
    if (found.length === 0) return;
    if (task.kind === 'taskflow' && !isMapped(task) && task.args.length === 0 && this.chance(50))
      task.args.push(['a', this.valueBefore(scope, task)]);
    if (this.chance(45)) {
      const other = this.random.pick(found).id;
      if (!task.after.includes(other)) task.after.push(other);
    }
  }

  valueBefore(scope: Scope, task: Task): Expr {
    const found = this.before(scope, task).filter((node) => node.node === 'task' || node.gives !== undefined);
    const inputs = this.inputs(scope);
    if (inputs.length > 0 && this.chance(40)) return { input: this.random.pick(inputs) };
    return found.length > 0 ? { of: this.random.pick(found).id } : { literal: this.random.pick(VALUES) };
  }
}
