/**
 * Statements of the engine with the row types that their code declares. The types do not exist while a test runs, so
 * they are read from the source. The texts of the statements come from calls of all exported functions of a module, with
 * a database that executes nothing and arguments that have every property.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { CompiledQuery, DatabaseConnection } from 'kysely';
import { parseAst } from 'rolldown/parseAst';
import { FixedSql } from '@svc/server/db/fixed-sql.ts';
import { ROOT } from '../paths.ts';

export type TypedStatement = { file: string; line: number; key: string; columns: ReadonlyMap<string, Declared> };
/** `undefined`: the type is not read from here, so any type of Postgres fits. */
export type Declared = readonly Kind[] | undefined;
type Kind = 'string' | 'number' | 'boolean' | 'null';

type Node = { type: string; [part: string]: unknown };
const nodes = (value: unknown): Node[] => (Array.isArray(value) ? (value as Node[]) : []);
const part = (node: Node, name: string): Node => node[name] as Node;

/** The same texts between values have the same key. */
const keyOf = (strings: readonly string[]): string => strings.join('\0');

/** Finds the statements of a file whose row type is an object type of this file or of `others`. */
export function typedStatements(file: string, others: readonly string[]): TypedStatement[] {
  const { source, program } = parsed(file);
  const types = new Map<string, Node>();
  const found: TypedStatement[] = [];
  for (const each of [...others, file]) {
    walk(parsed(each).program, (node) => {
      if (node.type === 'TSTypeAliasDeclaration')
        types.set(String(part(node, 'id')['name']), part(node, 'typeAnnotation'));
    });
  }
  walk(program, (node) => {
    const tag = node.type === 'TaggedTemplateExpression' ? part(node, 'tag') : undefined;
    if (tag?.['name'] !== 'fixedSql' && tag?.['name'] !== 'sql') return;
    const [row] = nodes((node['typeArguments'] as Node | null)?.['params']);
    const columns = row && columnsOf(row, types);
    if (!columns) return;
    const strings = nodes(part(node, 'quasi')['quasis']).map((quasi) => String(part(quasi, 'value')['cooked']));
    const line = source.slice(0, node['start'] as number).split('\n').length;
    found.push({ file, line, key: keyOf(strings), columns });
  });
  return found;
}

const kept = new Map<string, { source: string; program: Node }>();

function parsed(file: string): { source: string; program: Node } {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const known = kept.get(file) ?? { source, program: parseAst(source, { lang: 'ts' }) as unknown as Node };
  kept.set(file, known);
  return known;
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child === 'object' && child !== null && 'type' in child) walk(child as Node, visit);
  }
}

/** Returns undefined for a type that is not a list of named columns. */
function columnsOf(type: Node, types: ReadonlyMap<string, Node>): Map<string, Declared> | undefined {
  if (type.type === 'TSTypeReference') {
    const alias = types.get(String(part(type, 'typeName')['name']));
    return alias && columnsOf(alias, types);
  }
  if (type.type === 'TSIntersectionType') {
    const parts = nodes(type['types']).map((one) => columnsOf(one, types));
    return parts.includes(undefined) ? undefined : new Map(parts.flatMap((one) => [...(one ?? [])]));
  }
  if (type.type !== 'TSTypeLiteral') return undefined;
  return new Map(
    nodes(type['members']).map((member) => [
      String(part(member, 'key')['name'] ?? part(member, 'key')['value']),
      kindsOf(part(part(member, 'typeAnnotation'), 'typeAnnotation')),
    ]),
  );
}

function kindsOf(type: Node): Declared {
  switch (type.type) {
    case 'TSStringKeyword':
      return ['string'];
    case 'TSNumberKeyword':
      return ['number'];
    case 'TSBooleanKeyword':
      return ['boolean'];
    case 'TSNullKeyword':
      return ['null'];
    case 'TSLiteralType':
      return [typeof part(type, 'literal')['value'] as Kind];
    case 'TSUnionType': {
      const parts = nodes(type['types']).map(kindsOf);
      return parts.includes(undefined) ? undefined : parts.flatMap((one) => one ?? []);
    }
    default:
      return undefined;
  }
}

/** Calls all functions of a module, and returns the texts of the statements that they would execute, by key. */
export async function statementsOf(module: Readonly<Record<string, unknown>>): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const { execute } = FixedSql.prototype;
  FixedSql.prototype.execute = function (this: FixedSql<never>) {
    const executeQuery = async ({ sql }: CompiledQuery) => {
      seen.set(keyOf(this.strings), sql);
      return { rows: [anything()] };
    };
    return Reflect.apply(execute, this, [{ executeQuery }]) as never;
  };
  const db = databaseOf((compiled) => {
    const raw = compiled.query as unknown as { sqlFragments?: readonly string[] };
    if (raw.sqlFragments) seen.set(keyOf(raw.sqlFragments), compiled.sql);
  });
  try {
    for (const value of Object.values(module)) {
      if (typeof value !== 'function') continue;
      const call = async (): Promise<unknown> => (value as Call)(db, ...Array.from({ length: 6 }, anything));
      await call().catch(() => {}); // what it has executed until then counts
    }
  } finally {
    FixedSql.prototype.execute = execute;
  }
  return seen;
}

type Call = (...values: unknown[]) => unknown;

/** A database of Kysely that only shows its statements. */
function databaseOf(onStatement: (compiled: CompiledQuery) => void): unknown {
  const connection: DatabaseConnection = {
    async executeQuery(compiled) {
      onStatement(compiled);
      return { rows: [anything() as never] };
    },
    streamQuery: () => {
      throw new Error('statements of the engine are not streams');
    },
  };
  const kysely = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => Object.assign(new DummyDriver(), { acquireConnection: async () => connection }),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return Object.assign(kysely, { shared: kysely, tenant: () => kysely });
}

/** A value that has every property, is a list of one such value, and is a text. */
function anything(): unknown {
  return new Proxy(
    {},
    {
      get(_, name) {
        if (name === 'then') return undefined;
        if (name === Symbol.toPrimitive) return () => 'x';
        if (name === Symbol.iterator) return [anything()][Symbol.iterator].bind([anything()]);
        if (name === 'length' || name === 'size') return 1;
        const own = ([anything()] as unknown as Record<string | symbol, unknown>)[name];
        return typeof own === 'function' ? own.bind([anything()]) : anything();
      },
      has: () => false,
    },
  );
}
