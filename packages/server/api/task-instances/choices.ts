/**
 * Filters by what only the spec knows of a task: shown name, group, executor. They become lists of task ids, taken from the
 * run's version where one run is asked for, else from the newest versions.
 */
import type { TenantDb } from '../../db/database.ts';
import { findDagVersions } from '../../db/task-instances/details.ts';
import type { InstanceFilter, TaskChoice } from '../../db/task-instances/filters.ts';
import type { TextMatch } from '../../db/text-match.ts';
import type { FactsCache, TaskFacts } from './facts.ts';

export type NameTools = { db: TenantDb; facts: FactsCache };
type Dags = { dagIds: readonly string[] | undefined; versionNumber: number | undefined };

export async function choicesOf(
  tools: NameTools,
  dags: Dags,
  asked: { executors?: readonly string[] | undefined; group?: string | undefined },
): Promise<TaskChoice[] | undefined> {
  const { executors, group } = asked;
  const conditions: ((facts: TaskFacts) => boolean)[] = [
    ...(executors ? [(facts: TaskFacts) => executors.includes(facts.executor ?? '')] : []),
    ...(group ? [(facts: TaskFacts) => facts.groups.includes(group)] : []),
  ];
  if (conditions.length === 0) return undefined;
  const tasks = await tasksOf(tools, dags);
  return [choice(tasks.filter(({ facts }) => conditions.every((condition) => condition(facts))))];
}

/** Nearly all tasks are shown by their id, which the database can match; the few that are not are matched here. */
export async function displayNameFilter(
  tools: NameTools,
  dags: Dags,
  patterns: readonly TextMatch[],
): Promise<NonNullable<InstanceFilter['displayNames']>> {
  const renamed = (await tasksOf(tools, dags)).filter(({ taskId, facts }) => facts.displayName !== taskId);
  const matching = renamed.filter(({ facts }) => patterns.every((match) => isMatch(facts.displayName, match)));
  return { patterns, renamed: choice(renamed), choice: choice(matching) };
}

type NamedTask = { dagId: string; taskId: string; facts: TaskFacts };

const choice = (tasks: readonly NamedTask[]): TaskChoice => ({
  dagIds: tasks.map((task) => task.dagId),
  taskIds: tasks.map((task) => task.taskId),
});

async function tasksOf({ db, facts: cache }: NameTools, dags: Dags): Promise<NamedTask[]> {
  const versions = await findDagVersions(db, dags);
  const byId = await cache.get(
    db,
    versions.map((version) => version.id),
  );
  return versions.flatMap(({ id, dag_id: dagId }) =>
    [...(byId.get(id) ?? [])].map(([taskId, facts]) => ({ dagId, taskId, facts })),
  );
}

/** What `like` and `ilike` do in the database, for names it does not have. */
export function isMatch(text: string, { operator, patterns }: TextMatch): boolean {
  const fold = (part: string) => (operator === 'ilike' ? part.toLowerCase() : part);
  const letters = [...fold(text)];
  return patterns.some((pattern) => isLike(letters, symbolsOf(fold(pattern))));
}

const ANY_TEXT = Symbol('any text');
const ANY_LETTER = Symbol('any letter');
type LikeSymbol = string | typeof ANY_TEXT | typeof ANY_LETTER;

function symbolsOf(pattern: string): LikeSymbol[] {
  return [...pattern.matchAll(/\\?[^]/gu)].map(([part]): LikeSymbol => {
    if (part.length > 1 && part.startsWith('\\')) return part.slice(1);
    if (part === '%') return ANY_TEXT;
    return part === '_' ? ANY_LETTER : part;
  });
}

/** Goes back to the last `%` only: a regular expression would try every way to share the text between all of them. */
function isLike(letters: readonly string[], symbols: readonly LikeSymbol[]): boolean {
  let [letter, symbol] = [0, 0];
  let resume: { letter: number; symbol: number } | undefined;
  while (letter < letters.length) {
    const wanted = symbols[symbol];
    if (wanted === ANY_TEXT) {
      resume = { letter, symbol: symbol + 1 };
      symbol += 1;
    } else if (wanted !== undefined && (wanted === ANY_LETTER || wanted === letters[letter])) {
      letter += 1;
      symbol += 1;
    } else if (resume) {
      resume.letter += 1;
      ({ letter, symbol } = resume);
    } else return false;
  }
  return symbols.slice(symbol).every((rest) => rest === ANY_TEXT);
}
