/**
 * The order in which a claim looks at candidates of several tenants. The tenant that holds the fewest slots comes
 * first, whatever the priority of the others: a tenant cannot take all workers with many tasks, or with a high
 * `priority_weight`. Within a tenant, the order stays.
 */
export function* betweenTenants<Row extends { tenant_id: string }>(
  rows: readonly Row[],
  held: (tenantId: string) => number,
): Generator<Row> {
  const queues = [...Map.groupBy(rows, (row) => row.tenant_id)].map(([tenantId, own]) => ({ tenantId, own, at: 0 }));
  for (;;) {
    let next: (typeof queues)[number] | undefined;
    for (const queue of queues)
      if (queue.at < queue.own.length && (!next || held(queue.tenantId) < held(next.tenantId))) next = queue;
    const row = next?.own[next.at];
    if (!next || !row) return;
    next.at += 1;
    yield row;
  }
}
