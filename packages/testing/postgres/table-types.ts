/**
 * The table types of packages/server/db/tables, read from their source: which columns they declare, and whether each may
 * be null, may be left out by an insert, and what JavaScript has for it. Types do not exist while a test runs, so their source is read.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { ROOT } from '../paths.ts';

/** `other`: a type of another package, or an object, which a JSON column holds. */
export type Kind = 'string' | 'number' | 'boolean' | 'Buffer' | 'array' | 'other' | 'unknown';
export type DeclaredColumn = { nullable: boolean; kinds: readonly Kind[]; optional: boolean };
/** `rest`: the type of all columns that are not named. */
export type DeclaredTable = { columns: ReadonlyMap<string, DeclaredColumn>; rest: DeclaredColumn | undefined };

/** The parts of a syntax tree that are read here. A node has those of its type. */
type Node = {
  type: string;
  name: string;
  value: unknown;
  id: Node;
  key: Node;
  literal: Node;
  declaration?: Node | null;
  typeAnnotation: Node;
  typeName?: Node;
  typeArguments?: { params: Node[] } | null;
  body: Node[];
  members: Node[];
  types: Node[];
};
type Parts = { null: boolean; undefined: boolean; kinds: Set<Kind> };

/** By the name of the table. */
export function declaredTables(): Map<string, DeclaredTable> {
  const types = new Map<string, Node>();
  const tables = globSync('packages/server/db/tables/*.ts', { cwd: ROOT });
  const files = ['packages/spec/states.ts', ...tables, 'packages/server/db/schema.ts'];
  for (const file of files) {
    const program = parseAst(readFileSync(join(ROOT, file), 'utf8'), { lang: 'ts' }) as unknown as Node;
    for (const statement of program.body) {
      const declared = statement.declaration ?? statement;
      if (declared.type === 'TSTypeAliasDeclaration') types.set(declared.id.name, declared.typeAnnotation);
    }
  }
  const named = ['TenantTables', 'SharedTables'].flatMap((all) => membersOf(types.get(all), all));
  return new Map(named.map(([name, type]) => [name, tableOf(type.typeName?.name ?? '', types)]));
}

function tableOf(name: string, types: ReadonlyMap<string, Node>): DeclaredTable {
  const declared = types.get(name);
  if (declared === undefined) throw new Error(`the table type ${name} is not in packages/server/db/tables`);
  const parts = declared.type === 'TSIntersectionType' ? declared.types : [declared];
  const columns = parts.filter(({ type }) => type === 'TSTypeLiteral').flatMap((part) => membersOf(part, name));
  const rest = parts.find((part) => part.typeName?.name === 'Record')?.typeArguments?.params[1];
  return {
    columns: new Map(columns.map(([column, type]) => [column, columnOf(type, types)])),
    rest: rest && columnOf(rest, types),
  };
}

function membersOf(literal: Node | undefined, name: string): [string, Node][] {
  if (literal?.type !== 'TSTypeLiteral') throw new Error(`${name} is not an object type`);
  return literal.members.map((member) => [member.key.name, member.typeAnnotation.typeAnnotation]);
}

/** The types of a column when it is read and when it is inserted, as Kysely declares them. */
function columnOf(type: Node, types: ReadonlyMap<string, Node>): DeclaredColumn {
  const wrapper = type.type === 'TSTypeReference' ? (type.typeName?.name ?? '') : '';
  const [first, second] = (type.typeArguments?.params ?? []) as [Node, Node];
  if (wrapper === 'Generated') return { ...columnOf(first, types), optional: true };
  if (wrapper === 'ColumnType') {
    const [read, inserted] = [partsOf(first, types), partsOf(second, types)];
    const optional = inserted.undefined || inserted.null || inserted.kinds.size === 0;
    return { nullable: read.null, kinds: [...read.kinds], optional };
  }
  const alias = types.get(wrapper);
  // Json<T> and the like: whatever T is, its column holds it.
  if (alias?.typeName?.name === 'ColumnType') return columnOf(alias, types);
  const parts = partsOf(type, types);
  return { nullable: parts.null, kinds: [...parts.kinds], optional: parts.null };
}

function partsOf(type: Node, types: ReadonlyMap<string, Node>): Parts {
  const none: Parts = { null: false, undefined: false, kinds: new Set() };
  switch (type.type) {
    case 'TSNullKeyword':
      return { ...none, null: true };
    case 'TSUndefinedKeyword':
      return { ...none, undefined: true };
    case 'TSNeverKeyword':
      return none;
    case 'TSStringKeyword':
      return { ...none, kinds: new Set(['string']) };
    case 'TSNumberKeyword':
      return { ...none, kinds: new Set(['number']) };
    case 'TSBooleanKeyword':
      return { ...none, kinds: new Set(['boolean']) };
    case 'TSLiteralType':
      return { ...none, kinds: new Set([typeof type.literal.value as Kind]) };
    case 'TSArrayType':
      return { ...none, kinds: new Set(['array']) };
    case 'TSUnionType': {
      const parts = type.types.map((part) => partsOf(part, types));
      return {
        null: parts.some((part) => part.null),
        undefined: parts.some((part) => part.undefined),
        kinds: new Set(parts.flatMap((part) => [...part.kinds])),
      };
    }
    case 'TSUnknownKeyword':
      return { null: true, undefined: true, kinds: new Set(['unknown']) };
    case 'TSTypeReference': {
      const name = type.typeName?.name ?? '';
      if (name === 'Buffer') return { ...none, kinds: new Set(['Buffer']) };
      const alias = types.get(name);
      return alias === undefined ? { ...none, kinds: new Set(['other']) } : partsOf(alias, types);
    }
    default:
      return { ...none, kinds: new Set(['other']) };
  }
}
