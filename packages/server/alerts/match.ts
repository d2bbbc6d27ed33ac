/** Decides which rules match a fact. It is pure. */
import { causeOf, isFailureCause, isInfrastructure } from '@svc/spec/failure-causes.ts';
import type { FactRow, MatchedDag, RuleOfTenant } from '../db/alerts/facts.ts';
import type { AlertEvent } from './events.ts';

/** `*` stands for any text, `?` for one character. */
export function matchesGlob(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(text);
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

function matchesPlace(fact: FactRow, rule: RuleOfTenant, dag: MatchedDag | undefined): boolean {
  if (rule.tenant_id !== fact.tenant_id) return false;
  if (!matchesAny(rule.dags, [fact.dag_id])) return false;
  if (fact.kind === 'broken_file') return rule.tags.length === 0 && rule.owners.length === 0;
  return (
    matchesAny(rule.tags, dag?.tags ?? []) &&
    matchesAny(rule.owners, dag?.owners ?? []) &&
    matchesAny(rule.tasks, [fact.task_id])
  );
}
