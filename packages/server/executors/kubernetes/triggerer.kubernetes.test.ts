import { afterAll, beforeAll, expect, it } from 'vitest';
import { core } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { startLedger } from '@svc/testing/kubernetes/ledger.ts';
import type { Ledger } from '@svc/testing/kubernetes/ledger.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { eventually } from '@svc/testing/eventually.ts';

/** The triggers fire when both tasks wait: otherwise the first may be over before the second one begins. */
const dagWith = (ledger: Ledger): string => `
import asyncio, os
from airflow.sdk import BaseOperator, DAG
from airflow.triggers.base import BaseTrigger, TriggerEvent
${ledger.python}

class Soon(BaseTrigger):
    async def run(self):
        await asyncio.to_thread(wait_for, "both-wait")
        yield TriggerEvent(os.uname().nodename)

class Waits(BaseOperator):
    def execute(self, context):
        self.defer(trigger=Soon(), method_name="go_on")

    def go_on(self, context, event):
        print("waited for by", event, "and resumed in", os.uname().nodename)

with DAG("waits", schedule=None):
    for name in ("a", "b"):
        Waits(task_id=name)
`;

let namespace: TestNamespace;
let server: ClusterControlPlane;
let ledger: Ledger;
beforeAll(async () => {
  ledger = await startLedger();
  namespace = await createTestNamespace('triggerer');
  server = await startClusterControlPlane(namespace.name);
});
afterAll(async () => {
  await server?.close();
  ledger?.close();
  await namespace?.[Symbol.asyncDispose]();
});

const pods = async () => (await core.listNamespacedPod({ namespace: namespace.name })).items;

it('deferred tasks have no pod: one of their DAG version waits for all of them, and goes when none is left', async () => {
  await server.addDag('waits', dagWith(ledger));
  const runId = await server.trigger('waits');
  await eventually(
    async () => {
      const states = (await server.instances('waits', runId)).map(({ state }) => state);
      expect(states).toEqual(['deferred', 'deferred']);
    },
    { withinMs: 240_000 },
  );
  ledger.open('both-wait');
  expect(await server.ended('waits', runId, 300)).toMatchObject({ state: 'success' });
  const said = await Promise.all(['a', 'b'].map((task) => server.log('waits', runId, task)));
  const waitedBy = said.map((log) => /waited for by (svc-\S+) and resumed in (svc-\S+)/.exec(log)?.slice(1) ?? []);
  expect(waitedBy[0]?.[0]).toBeDefined();
  expect(waitedBy[0]?.[0]).toBe(waitedBy[1]?.[0]);
  expect(waitedBy[0]?.[1]).not.toBe(waitedBy[0]?.[0]);
  await eventually(async () => expect(await pods()).toEqual([]), { withinMs: 120_000 });
}, 600_000);
