/** Turns facts into alerts: matches rules, groups by cause, and opens, updates or ends alerts, in one transaction. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { causeOf } from '@svc/spec/failure-causes.ts';
import type { Database, SharedDb } from '../db/database.ts';
import {
  closeRecovered,
  dagsOfFacts,
  openOrUpdateAlert,
  rulesOfTenants,
  runsWithFailedTasks,
  takeFacts,
} from '../db/alerts/facts.ts';
import type { RuleRow } from '../db/alerts/rules.ts';
import type { AlertChange, FactRow, MatchedDag, RuleOfTenant } from '../db/alerts/facts.ts';
import { fingerprintOf } from '../diagnosis/cause.ts';
import { canUpdate } from './channels/channels.ts';
import type { AlertEvent } from '@svc/spec/alerts/alert-events.ts';
import { eventFor } from './match.ts';
import { endOfQuiet } from './quiet-hours.ts';

const FACTS_AT_ONCE = 500;
const TURN_MS = 10;
/** How long an open alert collects further failures before its message is changed. */
export const UPDATE_EVERY_SECONDS = 30;

/** Returns how many facts it took. */
export const openAlerts = (db: Database): Promise<number> =>
  db.shared.transaction().execute(async (trx) => {
    const facts = await takeFacts(trx, FACTS_AT_ONCE);
    if (facts.length === 0) return 0;
    const rules = await rulesOfTenants(trx, [...new Set(facts.map((fact) => fact.tenant_id))]);
    const dags = new Map((await dagsOfFacts(trx, facts)).map((dag) => [keyOf(dag), dag]));
    const reported = await runsWithFailedTasks(
      trx,
      facts.flatMap((fact) => (fact.kind === 'run_failed' && fact.run !== null ? [fact.run] : [])),
    );
    const told = facts.filter((fact) => fact.kind !== 'run_failed' || !reported.has(fact.run ?? 0));
    const now = new Date();
    await applyInOrder(trx, told, (batch) => changesOf(batch, { rules, dags, now }));
    return facts.length;
  });

const RECOVERIES = new Map([
  ['run_succeeded', false],
  ['file_fixed', true],
]);

/** A recovery ends what failed before it and not what fails after it, so both are applied in their order. */
async function applyInOrder(
  trx: SharedDb,
  facts: readonly FactRow[],
  changes: (facts: readonly FactRow[]) => Promise<AlertChange[]>,
): Promise<void> {
  let from = 0;
  while (from < facts.length) {
    const isRecovery = RECOVERIES.has(facts[from]?.kind ?? '');
    let to = from;
    while (to < facts.length && RECOVERIES.has(facts[to]?.kind ?? '') === isRecovery) to += 1;
    const batch = facts.slice(from, to);
    if (isRecovery) {
      await closeRecovered(
        trx,
        batch.map((fact) => ({
          tenantId: fact.tenant_id,
          dagId: fact.dag_id,
          isFile: RECOVERIES.get(fact.kind) ?? false,
        })),
      );
    } else for (const change of await changes(batch)) await openOrUpdateAlert(trx, change);
    from = to;
  }
}

const keyOf = ({ tenant_id: tenantId, dag_id: dagId }: { tenant_id: string; dag_id: string }): string =>
  `${tenantId} ${dagId}`;

type Known = { rules: readonly RuleOfTenant[]; dags: ReadonlyMap<string, MatchedDag>; now: Date };
type Group = { rule: RuleOfTenant; event: AlertEvent; fingerprint: string; facts: FactRow[] };

async function changesOf(facts: readonly FactRow[], { rules, dags, now }: Known): Promise<AlertChange[]> {
  const groups = new Map<string, Group>();
  const ofTenant = Map.groupBy(rules, (rule) => rule.tenant_id);
  let began = performance.now();
  for (const fact of facts) {
    for (const rule of ofTenant.get(fact.tenant_id) ?? []) {
      // A tenant may have many long patterns, and other work must not wait until all of them are compared.
      if (performance.now() - began > TURN_MS) {
        await nextTurn();
        began = performance.now();
      }
      const event = eventFor(fact, rule, dags.get(keyOf(fact)));
      if (event === null) continue;
      const fingerprint = `${event} ${identityOf(fact)}`;
      const key = `${rule.tenant_id} ${rule.id} ${fingerprint}`;
      const group = groups.get(key) ?? { rule, event, fingerprint, facts: [] };
      group.facts.push(fact);
      groups.set(key, group);
    }
  }
  // The order of keys is the same in all processes, so that two of them do not wait for each other in a circle.
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => changeOf(group, now));
}

/** Failures with one cause are one alert. Files and runs are one each. */
function identityOf(fact: FactRow): string {
  if (fact.kind === 'broken_file') return fact.dag_id;
  if (fact.kind === 'run_failed') return `run ${fact.dag_id}`;
  return fingerprintOf({ failure_reason: fact.reason, failure_detail: fact.detail });
}

function changeOf({ rule, event, fingerprint, facts }: Group, now: Date): AlertChange {
  const [first] = facts;
  if (!first) throw new Error('unreachable: a group has a fact');
  const byPlace = Map.groupBy(facts, (fact) => `${fact.dag_id}\n${fact.task_id}`);
  return {
    tenantId: rule.tenant_id,
    ruleId: rule.id,
    fingerprint,
    event,
    cause: causeOf(first.reason ?? ''),
    detail: first.detail,
    fact: first,
    sources: [...byPlace.values()].flatMap((them) =>
      them[0] ? [{ dagId: them[0].dag_id, taskId: them[0].task_id, failures: them.length }] : [],
    ),
    ...dueOf(rule, now),
  };
}

/** When the first message and an update of it are to be sent, after mutes and quiet hours. */
export function dueOf(rule: RuleRow, now: Date): Pick<AlertChange, 'firstDueAt' | 'updateDueAt'> {
  const isMuted = rule.muted_until !== null && Date.parse(rule.muted_until) > now.getTime();
  if (isMuted) return { firstDueAt: null, updateDueAt: null };
  const firstDueAt = endOfQuiet(rule, now) ?? now;
  const updateAt = Math.max(firstDueAt.getTime(), now.getTime() + UPDATE_EVERY_SECONDS * 1_000);
  return { firstDueAt, updateDueAt: canUpdate(rule.channel) ? new Date(updateAt) : null };
}

/** Reports a failing channel through the other rules of the tenant with another channel or connection. */
export async function reportFailingChannel(
  db: Database,
  { tenantId, rule, reason }: { tenantId: string; rule: RuleRow; reason: string },
): Promise<void> {
  await db.shared.transaction().execute(async (trx) => {
    const rules = await rulesOfTenants(trx, [tenantId]);
    const other = rules.find(
      (one) =>
        one.failing_since === null &&
        `${one.channel} ${one.conn_id} ${one.target}` !== `${rule.channel} ${rule.conn_id} ${rule.target}`,
    );
    if (!other) return;
    await openOrUpdateAlert(trx, {
      tenantId,
      ruleId: other.id,
      fingerprint: `channel_failed ${rule.id}`,
      event: 'channel_failed',
      cause: 'channel_failed',
      detail: `${rule.name} (${rule.channel}): ${reason}`,
      fact: { dag_id: '', run: null, task_id: '', map_index: -1, try_number: 0, at: new Date().toISOString() },
      sources: [],
      firstDueAt: new Date(),
      updateDueAt: null,
    });
  });
}
