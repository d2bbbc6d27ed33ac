/** Decides which rules match a fact. It is pure. */
import { causeOf, isFailureCause, isInfrastructure } from '@svc/spec/failure-causes.ts';
import type { FactRow, MatchedDag, RuleOfTenant } from '../db/alerts/facts.ts';
import type { AlertEvent } from '@svc/spec/alerts/alert-events.ts';

/**
 * `*` stands for any text, `?` for one character. After a character that does not match, only the last `*` takes one
 * character more. So the time grows with the product of both lengths, and not exponentially as with a regular
 * expression.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let sign = 0;
  let at = 0;
  let afterStar = -1;
  let resumeAt = 0;
  while (at < text.length) {
    if (pattern[sign] === '*') {
      sign += 1;
      afterStar = sign;
      resumeAt = at;
    } else if (pattern[sign] === '?' || pattern[sign] === text[at]) {
      sign += 1;
      at += 1;
    } else if (afterStar >= 0) {
      sign = afterStar;
      resumeAt += 1;
      at = resumeAt;
    } else return false;
  }
  while (pattern[sign] === '*') sign += 1;
  return sign === pattern.length;
}

const matchesAny = (patterns: readonly string[], texts: readonly string[]): boolean =>
  patterns.length === 0 || patterns.some((pattern) => texts.some((text) => matchesGlob(pattern, text)));

/** Causes that a person chose. They are no alert. */
const CHOSEN = new Set(['marked_failed', 'cleared']);

/** Returns the event of the rule that the fact is, or null. A lost worker is more exact than a failure. */
export function eventFor(fact: FactRow, rule: RuleOfTenant, dag: MatchedDag | undefined): AlertEvent | null {
  if (!matchesPlace(fact, rule, dag)) return null;
  const has = (event: AlertEvent): boolean => rule.events.includes(event);
  const cause = causeOf(fact.reason ?? '');
  if (CHOSEN.has(cause)) return null;
  switch (fact.kind) {
    case 'broken_file':
      return has('broken_file') ? 'broken_file' : null;
    case 'run_failed':
      return has('failed') && rule.tasks.length === 0 ? 'failed' : null;
    case 'failed':
    case 'retried':
      if (has('lost_worker') && isFailureCause(cause) && isInfrastructure(cause)) return 'lost_worker';
      if (fact.kind === 'failed') return has('failed') ? 'failed' : null;
      return has('retried') && fact.try_number >= rule.after_tries ? 'retried' : null;
    default:
      return null;
  }
}

export function matchesPlace(
  fact: Pick<FactRow, 'tenant_id' | 'kind' | 'dag_id' | 'task_id'>,
  rule: RuleOfTenant,
  dag: MatchedDag | undefined,
): boolean {
  if (rule.tenant_id !== fact.tenant_id) return false;
  if (!matchesAny(rule.dags, [fact.dag_id])) return false;
  if (fact.kind === 'broken_file') return rule.tags.length === 0 && rule.owners.length === 0;
  return (
    matchesAny(rule.tags, dag?.tags ?? []) &&
    matchesAny(rule.owners, dag?.owners ?? []) &&
    matchesAny(rule.tasks, [fact.task_id])
  );
}
