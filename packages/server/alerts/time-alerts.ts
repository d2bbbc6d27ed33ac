/**
 * Alerts of what time alone causes: late runs, stuck tasks, stale schedules. No transaction records these, so one
 * scheduler looks for them every half minute. All places with one event are one alert of a rule (stuck tasks: one for
 * each queue). A place that is late no more is over, and the alert with its last place.
 */
import type { Database } from '../db/database.ts';
import { dagsOfFacts, openOrUpdateAlert } from '../db/alerts/facts.ts';
import type { MatchedDag, RuleOfTenant } from '../db/alerts/facts.ts';
import {
  closeSourcesOfTime,
  findLateRuns,
  findStaleSchedules,
  findStuckTasks,
  mayLookAtTime,
  openSourcesOfTime,
  rulesOfTime,
} from '../db/alerts/time-conditions.ts';
import type { LateRun, OpenSource, TimeCondition } from '../db/alerts/time-conditions.ts';
import type { SharedDb } from '../db/database.ts';
import type { AlertEvent } from '@svc/spec/alerts/alert-events.ts';
import { matchesPlace } from './match.ts';
import { dueOf } from './open-alerts.ts';

/** Used where a rule names no time. */
const DEFAULTS = { lateFactor: 2, stuckSeconds: 900, staleSeconds: 600 } as const;

/** A condition that holds for a rule. */
type Found = { rule: RuleOfTenant; event: AlertEvent; fingerprint: string; place: TimeCondition; detail: string };

/** Does nothing while another process looks. */
export const lookAtTime = (db: Database): Promise<void> =>
  db.shared.transaction().execute(async (trx) => {
    const rules = await rulesOfTime(trx);
    if (rules.length === 0 || !(await mayLookAtTime(trx))) return;
    // Read after the lock, so that what the look before this one has opened is known.
    const open = await openSourcesOfTime(trx);
    const found = await findAll(trx, rules);
    const known = new Set(open.map(keyOf));
    const holding = new Set(found.map((one) => keyOf(sourceOf(one))));
    await closeSourcesOfTime(
      trx,
      open.filter((one) => !holding.has(keyOf(one))),
    );
    const fresh = found.filter((one) => !known.has(keyOf(sourceOf(one))));
    const byAlert = Map.groupBy(fresh, ({ rule, fingerprint }) => `${rule.tenant_id} ${rule.id} ${fingerprint}`);
    // In the same order as elsewhere, so that two processes do not wait for each other in a circle.
    for (const [, group] of [...byAlert].toSorted(([a], [b]) => (a < b ? -1 : 1))) await report(trx, group);
  });

async function report(trx: SharedDb, group: readonly Found[]): Promise<void> {
  const [first] = group;
  if (!first) return;
  const { rule, event, fingerprint, place, detail } = first;
  const now = new Date();
  const places = new Map(group.map((one) => [`${one.place.dag_id}\n${one.place.task_id}`, one.place]));
  await openOrUpdateAlert(trx, {
    tenantId: rule.tenant_id,
    ruleId: rule.id,
    fingerprint,
    event,
    cause: event,
    detail,
    fact: { ...place, at: now.toISOString() },
    sources: [...places.values()].map(({ dag_id: dagId, task_id: taskId }) => ({ dagId, taskId, failures: 1 })),
    ...dueOf(rule, now),
  });
}

async function findAll(trx: SharedDb, rules: readonly RuleOfTenant[]): Promise<Found[]> {
  const of = (event: AlertEvent): RuleOfTenant[] => rules.filter((rule) => rule.events.includes(event));
  const [late, stuck, stale] = [of('late'), of('stuck'), of('stale_schedule')];
  const lateRuns = late.length === 0 ? [] : await findLateRuns(trx, tenantsOf(late));
  const stuckTasks =
    stuck.length === 0
      ? []
      : await findStuckTasks(trx, { tenantIds: tenantsOf(stuck), seconds: Math.min(...stuck.map(stuckSeconds)) });
  const stales =
    stale.length === 0
      ? []
      : await findStaleSchedules(trx, { tenantIds: tenantsOf(stale), seconds: Math.min(...stale.map(staleSeconds)) });
  const places = [...lateRuns, ...stuckTasks, ...stales];
  const dags = new Map((await dagsOfFacts(trx, places)).map((dag) => [`${dag.tenant_id} ${dag.dag_id}`, dag]));
  return [
    ...found(late, lateRuns, dags, { event: 'late', matches: isLate, fingerprint: () => 'late', detail: lateText }),
    ...found(stuck, stuckTasks, dags, {
      event: 'stuck',
      matches: (rule, { seconds }) => seconds > stuckSeconds(rule),
      fingerprint: ({ queue }) => `stuck ${queue}`,
      detail: ({ seconds, queue }) => `waits in queue ${queue} for ${durationText(seconds)}`,
    }),
    ...found(stale, stales, dags, {
      event: 'stale_schedule',
      matches: (rule, { seconds }) => seconds > staleSeconds(rule) && rule.tasks.length === 0,
      fingerprint: () => 'stale_schedule',
      detail: ({ seconds }) => `its next run was due ${durationText(seconds)} ago and was not made`,
    }),
  ];
}

type Kind<Place> = {
  event: AlertEvent;
  matches(rule: RuleOfTenant, place: Place): boolean;
  fingerprint(place: Place): string;
  detail(place: Place): string;
};

const found = <Place extends TimeCondition>(
  rules: readonly RuleOfTenant[],
  places: readonly Place[],
  dags: ReadonlyMap<string, MatchedDag>,
  { event, matches, fingerprint, detail }: Kind<Place>,
): Found[] =>
  rules.flatMap((rule) =>
    places
      .filter((place) => matches(rule, place))
      .filter((place) => matchesPlace({ ...place, kind: event }, rule, dags.get(`${place.tenant_id} ${place.dag_id}`)))
      .map((place) => ({ rule, event, place, fingerprint: fingerprint(place), detail: detail(place) })),
  );

const tenantsOf = (rules: readonly RuleOfTenant[]): string[] => [...new Set(rules.map((rule) => rule.tenant_id))];
const stuckSeconds = (rule: RuleOfTenant): number => rule.stuck_seconds ?? DEFAULTS.stuckSeconds;
const staleSeconds = (rule: RuleOfTenant): number => rule.stale_seconds ?? DEFAULTS.staleSeconds;

/** Past its deadline, or slower than usual. A rule with a deadline and no factor asks for the deadline only. */
function isLate(rule: RuleOfTenant, run: LateRun): boolean {
  if (rule.tasks.length > 0) return false;
  if (rule.late_seconds !== null && run.seconds > rule.late_seconds) return true;
  const factor = rule.late_factor ?? (rule.late_seconds === null ? DEFAULTS.lateFactor : null);
  if (factor === null || run.running_seconds === null || run.usual_seconds === null) return false;
  return run.running_seconds > run.usual_seconds * factor;
}

function lateText({ seconds, running_seconds: running, usual_seconds: usual }: LateRun): string {
  const state = running === null ? 'has not started' : `runs for ${durationText(running)}`;
  const before = usual === null ? '' : `, and 95 % of its runs take at most ${durationText(usual)}`;
  return `was due ${durationText(seconds)} ago and ${state}${before}`;
}

function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

const sourceOf = ({ rule, fingerprint, place }: Found): OpenSource => ({
  tenant_id: rule.tenant_id,
  rule_id: rule.id,
  fingerprint,
  dag_id: place.dag_id,
  task_id: place.task_id,
});

const keyOf = (source: OpenSource): string =>
  [source.tenant_id, source.rule_id, source.fingerprint, source.dag_id, source.task_id].join('\n');
