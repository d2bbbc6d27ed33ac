/**
 * Makes it impossible to forget the tenant. A query builder from `tenantScope` sees one tenant only:
 *
 *   select / update / delete   every tenant table, also in joins and subqueries, gets `<table>.tenant_id = <tenant>`
 *   insert                     every row gets the tenant; naming another one is refused
 *   raw SQL                    must mention tenant_id itself, otherwise it is refused before it reaches the database
 *   tables without a tenant    are refused: they are for the code that serves all tenants
 *
 * The rewrite happens on Kysely's immutable query tree. It costs a walk over that tree and no round trip, and the
 * condition is part of every query plan. Keys and references in the schema contain the tenant too, so even a statement
 * without the condition could not join rows of two tenants.
 */
import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  IdentifierNode,
  OnNode,
  OperationNodeTransformer,
  OperatorNode,
  PrimitiveValueListNode,
  ReferenceNode,
  TableNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
  WhereNode,
} from 'kysely';
import type {
  DeleteQueryNode,
  InsertQueryNode,
  JoinNode,
  KyselyPlugin,
  OperationNode,
  QueryId,
  RawNode,
  RootOperationNode,
  SelectQueryNode,
  UpdateQueryNode,
} from 'kysely';
import { isTenantTable } from './schema.ts';

export function tenantScope(tenantId: string): KyselyPlugin {
  return {
    transformQuery: ({ node, queryId }): RootOperationNode =>
      new TenantTransformer(tenantId).transformNode(node, queryId),
    transformResult: async ({ result }) => result,
  };
}

class TenantTransformer extends OperationNodeTransformer {
  readonly #tenantId: string;
  /** Names of common table expressions are not tables. Their content has been scoped already. */
  readonly #commonTableNames = new Set<string>();

  constructor(tenantId: string) {
    super();
    this.#tenantId = tenantId;
  }

  protected override transformSelectQuery(node: SelectQueryNode, queryId?: QueryId): SelectQueryNode {
    this.#rememberCommonTables(node);
    const scoped = super.transformSelectQuery(node, queryId);
    // A left-joined table is scoped in its ON clause. In WHERE the condition would turn it into an inner join.
    const joins = scoped.joins?.map((join) => this.#scopeJoin(join));
    const where = this.#scopeWhere(scoped.where, scoped.from?.froms ?? []);
    return { ...scoped, ...(joins && { joins }), ...(where && { where }) };
  }

  protected override transformUpdateQuery(node: UpdateQueryNode, queryId?: QueryId): UpdateQueryNode {
    this.#rememberCommonTables(node);
    const scoped = super.transformUpdateQuery(node, queryId);
    const joins = scoped.joins?.map((join) => this.#scopeJoin(join));
    const where = this.#scopeWhere(scoped.where, [
      ...(scoped.table ? [scoped.table] : []),
      ...(scoped.from?.froms ?? []),
    ]);
    return { ...scoped, ...(joins && { joins }), ...(where && { where }) };
  }

  protected override transformDeleteQuery(node: DeleteQueryNode, queryId?: QueryId): DeleteQueryNode {
    this.#rememberCommonTables(node);
    const scoped = super.transformDeleteQuery(node, queryId);
    const joins = scoped.joins?.map((join) => this.#scopeJoin(join));
    const where = this.#scopeWhere(scoped.where, [...scoped.from.froms, ...(scoped.using?.tables ?? [])]);
    return { ...scoped, ...(joins && { joins }), ...(where && { where }) };
  }

  protected override transformInsertQuery(node: InsertQueryNode, queryId?: QueryId): InsertQueryNode {
    this.#rememberCommonTables(node);
    const scoped = super.transformInsertQuery(node, queryId);
    const table = scoped.into && this.#tenantTableOf(scoped.into);
    if (!table) return scoped;
    const columns = scoped.columns ?? [];
    if (columns.some((column) => column.column.name === 'tenant_id')) {
      throw new Error(`insert into ${table.name} names tenant_id: the tenant scope fills it in`);
    }
    const values = scoped.values;
    if (!values || !ValuesNode.is(values)) {
      throw new Error(
        `insert into ${table.name} from a query is not supported in a tenant scope: use raw SQL with tenant_id`,
      );
    }
    const rows = values.values.map((row) =>
      PrimitiveValueListNode.is(row)
        ? PrimitiveValueListNode.create([...row.values, this.#tenantId])
        : ValueListNode.create([...row.values, ValueNode.create(this.#tenantId)]),
    );
    return { ...scoped, columns: [...columns, ColumnNode.create('tenant_id')], values: ValuesNode.create(rows) };
  }

  protected override transformMergeQuery(): never {
    throw new Error('merge is not supported in a tenant scope: use insert … on conflict, or raw SQL with tenant_id');
  }

  protected override transformRaw(node: RawNode, queryId?: QueryId): RawNode {
    const text = node.sqlFragments.join(' ');
    // The query around them covers fragments that read no table (expressions, order by).
    const tables = [...text.matchAll(/\b(?:from|join|into|update|table)\s+(?:only\s+)?"?(\w+)/gi)].map(
      (match) => match[1] ?? '',
    );
    if (tables.some(isTenantTable) && !/\btenant_id\b/.test(text)) {
      throw new Error(`raw SQL in a tenant scope must name tenant_id: ${text.trim().slice(0, 80)}`);
    }
    return super.transformRaw(node, queryId);
  }

  #rememberCommonTables(node: SelectQueryNode | UpdateQueryNode | DeleteQueryNode | InsertQueryNode): void {
    for (const expression of node.with?.expressions ?? []) {
      this.#commonTableNames.add(expression.name.table.table.identifier.name);
    }
  }

  /** Returns the tenant table of a FROM item with its alias in the query. Undefined for anything else. */
  #tenantTableOf(item: OperationNode): { name: string; alias: string } | undefined {
    if (AliasNode.is(item)) {
      const inner = this.#tenantTableOf(item.node);
      return inner && IdentifierNode.is(item.alias) ? { ...inner, alias: item.alias.name } : undefined;
    }
    if (!TableNode.is(item)) return undefined; // a subquery: scoped on its own
    const name = item.table.identifier.name;
    if (isTenantTable(name)) return { name, alias: name };
    if (this.#commonTableNames.has(name)) return undefined;
    throw new Error(`table ${name} has no tenant: use the shared scope for it`);
  }

  #condition(alias: string): OperationNode {
    const column = ReferenceNode.create(ColumnNode.create('tenant_id'), TableNode.create(alias));
    return BinaryOperationNode.create(column, OperatorNode.create('='), ValueNode.create(this.#tenantId));
  }

  #scopeJoin(join: JoinNode): JoinNode {
    const table = this.#tenantTableOf(join.table);
    if (!table) return join;
    const condition = this.#condition(table.alias);
    return { ...join, on: join.on ? OnNode.create(AndNode.create(join.on.on, condition)) : OnNode.create(condition) };
  }

  #scopeWhere(where: WhereNode | undefined, items: readonly OperationNode[]): WhereNode | undefined {
    const tables = items.map((item) => this.#tenantTableOf(item)).filter((table) => table !== undefined);
    return tables.reduce<WhereNode | undefined>((result, table) => {
      const condition = this.#condition(table.alias);
      return result ? WhereNode.create(AndNode.create(result.where, condition)) : WhereNode.create(condition);
    }, where);
  }
}
