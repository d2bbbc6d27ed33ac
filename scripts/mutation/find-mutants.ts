/**
 * Finds the places of a source text that can be changed into a wrong program, with the usual operators of mutation testing:
 * conditions, comparisons, logic, arithmetic, literals, blocks, optional chains and calls of well-known methods.
 *
 * Works on the syntax tree that rolldown's parser makes of TypeScript. Types are left alone: they are gone when the code runs.
 */
import { parseAst } from 'rolldown/parseAst';

/** `start` and `end` are offsets in the source; `replacement` takes the place of the text between them. */
export type Mutant = {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  /** A block is replaced as a statement, everything else as an expression. */
  readonly isBlock: boolean;
  readonly original: string;
  readonly replacement: string;
};

type Node = { type: string; start: number; end: number } & Record<string, unknown>;

const SWAPPED: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
};

/** A map, because an object also has `toString` and what else every object inherits. */
const SWAPPED_METHODS: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['min', 'max'],
  ['max', 'min'],
  ['toLowerCase', 'toUpperCase'],
  ['toUpperCase', 'toLowerCase'],
]);
/** Calls that can be left out: what they are called on takes their place. */
const REMOVED_METHODS = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice', 'trim']);

export function findMutants(file: string, source: string): Mutant[] {
  const found: Mutant[] = [];
  const text = ({ start, end }: Node): string => source.slice(start, end);

  function add(node: Node, kind: string, replacement: string, isBlock = false): void {
    const original = text(node);
    if (replacement === original) return;
    const line = source.slice(0, node.start).split('\n').length;
    found.push({ file, line, start: node.start, end: node.end, kind, isBlock, original, replacement });
  }

  function visitOperator(node: Node): void {
    const [left, right] = [node['left'] as Node, node['right'] as Node];
    const operator = String(node['operator']);
    if (operator === '+' && [left, right].some(isText)) return; // a difference of texts is NaN: no likely mistake
    for (const other of SWAPPED[operator] ?? []) {
      // `a ?? (b && c)` needs its brackets kept apart: mixed without them, `??` does not parse.
      add(node, 'operator', `((${text(left)}) ${other} (${text(right)}))`);
    }
  }

  function visitCall(node: Node): void {
    const callee = node['callee'] as Node;
    if (callee.type !== 'MemberExpression' || callee['computed'] === true) return;
    const property = callee['property'] as Node;
    const name = String(property['name']);
    const object = callee['object'] as Node;
    const other = SWAPPED_METHODS.get(name);
    if (other !== undefined) {
      add(node, 'method', source.slice(node.start, property.start) + other + source.slice(property.end, node.end));
    }
    if (REMOVED_METHODS.has(name)) add(node, 'method', text(object));
  }

  function visitLiteral(node: Node): void {
    if (typeof node['value'] === 'boolean') add(node, 'boolean', String(!node['value']));
    else if (typeof node['value'] === 'string') add(node, 'text', node['value'] === '' ? '"changed"' : '""');
  }

  function condition(test: Node | null): void {
    if (!test) return;
    add(test, 'condition', 'true');
    add(test, 'condition', 'false');
  }

  function visitBlock(node: Node): void {
    if ((node['body'] as Node[]).length > 0) add(node, 'block', '{}', true);
  }

  function visit(node: Node): void {
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression':
        visitOperator(node);
        break;
      case 'UnaryExpression':
        if (node['operator'] === '!') add(node, 'negation', text(node['argument'] as Node));
        else if (node['operator'] === '-') add(node, 'sign', text(node['argument'] as Node));
        break;
      case 'UpdateExpression':
        add(
          node,
          'update',
          text(node).replace(/\+\+|--/, (sign) => (sign === '++' ? '--' : '++')),
        );
        break;
      case 'IfStatement':
      case 'ConditionalExpression':
        condition(node['test'] as Node);
        break;
      case 'WhileStatement':
      case 'DoWhileStatement':
      case 'ForStatement':
        if (node['test']) add(node['test'] as Node, 'condition', 'false');
        break;
      case 'BlockStatement':
        visitBlock(node);
        break;
      case 'ChainExpression':
        add(node, 'optional chain', text(node).replaceAll('?.[', '[').replaceAll('?.(', '(').replaceAll('?.', '.'));
        break;
      case 'CallExpression':
        visitCall(node);
        break;
      case 'ArrayExpression':
        add(node, 'array', (node['elements'] as unknown[]).length > 0 ? '[]' : '["changed"]');
        break;
      case 'ObjectExpression':
        if ((node['properties'] as unknown[]).length > 0) add(node, 'object', '({})');
        break;
      case 'TemplateLiteral':
        add(node, 'text', '``');
        break;
      case 'Literal':
        visitLiteral(node);
        break;
    }
    for (const child of childrenOf(node)) visit(child);
  }

  visit(parseAst(source, { lang: 'ts' }) as unknown as Node);
  return found;
}

const isText = (node: Node): boolean =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string');

/** Children that are expressions or statements: no types, no places of modules, no names of properties. */
function childrenOf(node: Node): Node[] {
  return Object.entries(node).flatMap(([key, value]): Node[] => {
    if (isSkipped(node, key)) return [];
    const all = Array.isArray(value) ? value : [value];
    return all.filter(isNode).filter((child) => !isType(child));
  });
}

function isSkipped(node: Node, key: string): boolean {
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return true;
  if (node.type === 'ExportNamedDeclaration') return key !== 'declaration';
  if (node.type === 'ImportExpression' || node.type === 'MetaProperty') return true;
  if (node.type === 'TaggedTemplateExpression') return key === 'quasi';
  if (node.type === 'ExpressionStatement' && typeof node['directive'] === 'string') return true;
  // Text that explains a failure is for people: an emptied one is no wrong program.
  if (node.type === 'NewExpression' && String((node['callee'] as Node)['name']).endsWith('Error')) return true;
  const isNamed = node.type === 'Property' || node.type === 'PropertyDefinition' || node.type === 'MethodDefinition';
  return isNamed && key === 'key' && node['computed'] !== true;
}

const EXPRESSIONS_WITH_TYPES = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);
const isType = ({ type }: Node): boolean => type.startsWith('TS') && !EXPRESSIONS_WITH_TYPES.has(type);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string' && 'start' in value;
