/** Two tenants share the slots of one worker. What each of them has waiting does not decide how many it gets. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import { registerVersion } from '../../registry/register-version.ts';
import { betweenTenants } from './between-tenants.ts';

let engine: ScriptedScheduler;
/** Ends the oldest hanging attempt of a tenant. */
const hanging: { tenantId: string; end: () => void }[] = [];
beforeAll(async () => {
  engine = await startScriptedScheduler({
    capacity: 4,
    script: ({ tenantId }) =>
      new Promise((resolve) => void hanging.push({ tenantId, end: () => resolve({ state: 'success' }) })),
  });
});
afterAll(() => engine?.close());

const tasks = (count: number, priority: number) =>
  graphOf(Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, []])), () => ({
    policy: { priority_weight: priority },
  }));

async function trigger(tenantId: string, count: number, priority: number): Promise<void> {
  const dagId = `dag_${randomUUID().slice(0, 8)}`;
  const spec = makeSpec({ dagId, tasks: tasks(count, priority), dag: { max_active_tasks: 100 } });
  const actor = { name: 'test', clientIp: '127.0.0.1', requestId: 'test' };
  const scope = engine.db.tenant(tenantId);
  await registerVersion(scope, { dagId, artifact: { spec }, actor });
  await scope.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', dagId).execute();
  await engine.scheduler.trigger(tenantId, { dagId, runType: 'manual', triggeredBy: 'test' });
  await engine.scheduler.idle();
}

/** Ends an attempt of the tenant. Returns the tenant that gets its slot. */
async function endOneOf(tenantId: string): Promise<string | undefined> {
  const before = hanging.length;
  const at = hanging.findIndex((attempt) => attempt.tenantId === tenantId);
  hanging.splice(at, 1)[0]?.end();
  await expect.poll(() => hanging.length).toBe(before);
  await engine.scheduler.idle();
  return hanging.at(-1)?.tenantId;
}

it('a tenant with a backlog of high priority gives slots to another one until both hold equally many', async () => {
  const [crowd, other] = [engine.tenant.id, (await ensureTenant(engine.db.shared, 'other')).id];
  await trigger(crowd, 40, 9);
  await expect.poll(() => hanging.length).toBe(4);
  await trigger(other, 3, 1);
  expect(hanging.map(({ tenantId }) => tenantId)).toEqual([crowd, crowd, crowd, crowd]);
  expect(await endOneOf(crowd)).toBe(other);
  expect(await endOneOf(crowd)).toBe(other);
  expect(await endOneOf(crowd)).toBe(crowd);
  expect(await endOneOf(other)).toBe(other);
  expect(await endOneOf(other)).toBe(crowd); // the other one has nothing more
  expect(engine.problems).toEqual([]);
});

it('candidates of several tenants are chosen in turns, and those of one tenant stay in their order', () => {
  const rows = ['a1', 'a2', 'a3', 'b1', 'a4', 'b2'].map((name) => ({ tenant_id: name[0] ?? '', name }));
  const held = new Map([['a', 0]]);
  const order: string[] = [];
  for (const row of betweenTenants(rows, (tenant) => held.get(tenant) ?? 0)) {
    order.push(row.name);
    held.set(row.tenant_id, (held.get(row.tenant_id) ?? 0) + 1);
  }
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
});
