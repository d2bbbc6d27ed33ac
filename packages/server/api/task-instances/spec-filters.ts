/**
 * Filters on task properties that only the spec contains: display name, group, executor. They become lists of task ids,
 * from the version of the run if the request names one run, otherwise from the newest versions.
 */
import type { TenantDb } from '../../db/database.ts';
import { findDagVersions } from '../../db/task-instances/details.ts';
import type { InstanceFilter, TaskKeys } from '../../db/task-instances/filters.ts';
import type { TextMatch } from '../../db/text-match.ts';
import type { TaskSummaries, TaskSummary } from '../dags/task-summaries.ts';

export type TaskLookup = { db: TenantDb; summaries: TaskSummaries };
type Dags = { dagIds: readonly string[] | undefined; versionNumber: number | undefined };

export async function tasksBySpec(
  lookup: TaskLookup,
  dags: Dags,
  asked: { executors?: readonly string[] | undefined; group?: string | undefined },
): Promise<TaskKeys[] | undefined> {
  const { executors, group } = asked;
  const conditions: ((task: TaskSummary) => boolean)[] = [
    ...(executors ? [(task: TaskSummary) => executors.includes(task.executor ?? '')] : []),
    ...(group ? [(task: TaskSummary) => task.groups.includes(group)] : []),
  ];
  if (conditions.length === 0) return undefined;
  const tasks = await tasksOf(lookup, dags);
  return [keysOf(tasks.filter(({ task }) => conditions.every((condition) => condition(task))))];
}

/** Nearly all tasks are shown by their id, which the database matches. The few renamed tasks are matched here. */
export async function displayNameFilter(
  lookup: TaskLookup,
  dags: Dags,
  patterns: readonly TextMatch[],
): Promise<NonNullable<InstanceFilter['displayNames']>> {
  const versions = await findDagVersions(lookup.db, dags);
  const byId = await lookup.summaries.renamed(
    lookup.db,
    versions.map((version) => version.id),
  );
  const renamed = versions.flatMap(({ id, dag_id: dagId }) => (byId.get(id) ?? []).map((task) => ({ dagId, ...task })));
  const matching = renamed.filter(({ displayName }) => patterns.every((match) => isMatch(displayName, match)));
  return { patterns, renamed: keysOf(renamed), matching: keysOf(matching) };
}

type NamedTask = { dagId: string; taskId: string; task: TaskSummary };

const keysOf = (tasks: readonly { dagId: string; taskId: string }[]): TaskKeys => ({
  dagIds: tasks.map((task) => task.dagId),
  taskIds: tasks.map((task) => task.taskId),
});

async function tasksOf({ db, summaries }: TaskLookup, dags: Dags): Promise<NamedTask[]> {
  const versions = await findDagVersions(db, dags);
  const byId = await summaries.get(
    db,
    versions.map((version) => version.id),
  );
  return versions.flatMap(({ id, dag_id: dagId }) =>
    [...(byId.get(id) ?? [])].map(([taskId, task]) => ({ dagId, taskId, task })),
  );
}

/** Does what `like` and `ilike` do in Postgres, for names that are not in the database. */
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

/** Backtracks only to the last `%`. A regular expression would try every way to split the text between all of them. */
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
