/** Compares what happened to a generated DAG on Airflow and here, fact by fact. */
import { explain } from './explained.ts';
import { factsOf } from './outcome.ts';
import type { Difference, Facts, Outcome } from './outcome.ts';

const ABSENT = 'absent';

export function compareOutcomes(airflow: Facts, here: Outcome): Difference[] {
  const ours = factsOf(here);
  const differences = compareFacts(airflow, ours).map(explain);
  const early = 'early' in here ? here.early : [];
  const byOrder = decidedByOrder({ airflow, here: ours, differences, early });
  return [
    ...differences.map((one) => (byOrder.has(taskOf(one.where)) ? { ...one, why: BY_ORDER } : one)),
    ...('instances' in here ? brokenOrder(here) : []),
  ];
}

const BY_ORDER = 'several tasks end before it in any order, and the first to end decides';

function compareFacts(airflow: Facts, here: Facts): Difference[] {
  return [...new Set([...Object.keys(airflow), ...Object.keys(here)])]
    .toSorted()
    .map((where) => ({ where, airflow: airflow[where] ?? ABSENT, here: here[where] ?? ABSENT }))
    .filter(({ airflow: theirs, here: ours }) => theirs !== ours);
}

const taskOf = (where: string): string => where.replace(/ .*/, '').replace(/\[\d+\]$/, '');
const BAD = new Set(['failed', 'upstream_failed']);

/**
 * Tasks for which the order of ends decides, and every task after one of these. The state may be either where both skipped and
 * failed instances are upstream (`DAG.test()` runs one task at a time). A task that may begin early may find values, or none yet.
 */
function decidedByOrder(input: {
  airflow: Facts;
  here: Facts;
  differences: readonly Difference[];
  /** Tasks that may begin before all of their upstream instances have ended. */
  early: readonly string[];
}): Set<string> {
  const { airflow, here, differences, early } = input;
  const upstreamOf = (task: string): string[] =>
    (airflow[`${task} upstream`] ?? '').split(' ').filter((id) => id !== '');
  const ends = new Map<string, Set<string>>();
  for (const facts of [airflow, here])
    for (const [where, value] of Object.entries(facts)) {
      if (where.endsWith(' state'))
        (ends.get(taskOf(where)) ?? ends.set(taskOf(where), new Set()).get(taskOf(where)))?.add(value);
    }
  const meets = (task: string): boolean => {
    const states = upstreamOf(task).flatMap((id) => [...(ends.get(id) ?? [])]);
    return states.includes('skipped') && states.some((state) => BAD.has(state));
  };
  const different = new Set(
    differences.filter(({ where }) => where.endsWith(' state')).map(({ where }) => taskOf(where)),
  );
  const found = new Set([...different].filter(meets));
  for (const task of early) if (!different.has(task)) found.add(task);
  const tasks = Object.keys(airflow)
    .filter((where) => where.endsWith(' upstream'))
    .map(taskOf);
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const task of tasks) if (upstreamOf(task).some((id) => found.has(id))) found.add(task);
  }
  if ([...found].some((task) => different.has(task))) found.add('run');
  return found;
}

/** With these rules, a task may begin before all of its upstream has ended. */
const ORDERED = new Set(['success', 'failed']);

/** What ran here before an upstream task that it needed had ended. */
function brokenOrder(here: Extract<Outcome, { instances: unknown }>): Difference[] {
  const byTask = Map.groupBy(Object.entries(here.instances), ([name]) => taskOf(name));
  return Object.entries(here.upstream).flatMap(([task, upstream]) =>
    (byTask.get(task) ?? []).flatMap(([name, { start, state }]) => {
      if (start === null || !ORDERED.has(state ?? '')) return [];
      return upstream.flatMap((id) =>
        (byTask.get(id) ?? []).flatMap(([other, { end, state: ended }]): Difference[] => {
          const isEarly = ended === 'success' && end !== null && end > start && sameItem(name, other);
          return isEarly && !here.early.includes(task)
            ? [{ where: `${name} order`, airflow: `after ${other}`, here: `before the end of ${other}` }]
            : [];
        }),
      );
    }),
  );
}

const sameItem = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((name) => /\[(\d+)\]$/.exec(name)?.[1]);
  return a === undefined || b === undefined || a === b;
};
