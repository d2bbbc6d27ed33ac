/** The warnings of a DAG about what works differently here than on Airflow 3: one for each row of the table. */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { differencesOf } from './table.ts';
import type { FoundDifference, NotedDifference } from './table.ts';

const NAMED = 5;

export function differenceWarnings(spec: CompiledSpec, noted: readonly NotedDifference[]): string[] {
  return differencesOf({ spec, noted, text: '', isForAirflow2: false }).map(warningOf);
}

function warningOf({ title, detail, tasks, places }: FoundDifference): string {
  const named = tasks.length > 0 ? `${tasks.length === 1 ? 'task' : 'tasks'} ${listed(tasks)}` : listed(places);
  return `Differs from Airflow: ${title}${named === '' ? '' : ` (${named})`}. ${detail}`;
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
