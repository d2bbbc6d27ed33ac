/** Which Airflow a file needs at least, by the names that it uses. */

/** What airflow.sdk has since 3.3 (python/tests/airflow_3_3_names.json compares the parameters). */
const NAMES = new Set(
  (
    'AssetAccessControl BaseDeadlineReference DayWindow ExceptionRetryPolicy FanOutMapper FixedKeyMapper HourWindow ' +
    'MinimumCount MonthWindow NEVER_EXPIRE PartitionedAtRuntime QuarterWindow ResumableJobMixin RetryAction ' +
    'RetryDecision RetryPolicy RetryRule RollupMapper SegmentWindow VariableInterval WaitForAll WeekWindow Window ' +
    'YearWindow deadline_reference result'
  ).split(' '),
);
const MODULES = /^airflow\.(?:sdk\.(?:bases\.resumablejobmixin|coordinators|definitions\.retry_policy)|state)\b/;
const IMPORT = /^[ \t]*from[ \t]+(airflow[\w.]*)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n]*))/gm;
/** Arguments and keys of the context. */
const WORDS =
  /\b(?:(?:retry_policy|rerun_with_latest_version|max_downstream_keys)(?=[ \t]*=[^=])|task_state_store|asset_state_store|partition_date|add_partitions)\b/g;

export type NeededAirflow = { version: '3.3' | '3.0'; because: string[] };

/** Null: nothing in the file says so. A comment counts for nothing. */
export function neededAirflow(text: string): NeededAirflow | null {
  const code = text.replaceAll(/#[^\n]*/g, '');
  const found = new Set<string>();
  let isOfSdk = false;
  for (const [, module = '', listed, rest] of code.matchAll(IMPORT)) {
    if (MODULES.test(module)) found.add(module);
    if (!/^airflow\.(?:sdk|partition_mappers)\b/.test(module)) continue;
    isOfSdk = true;
    for (const part of (listed ?? rest ?? '').split(',')) {
      const name = part.trim().split(/\s/)[0] ?? '';
      if (NAMES.has(name)) found.add(name);
    }
  }
  // Words such as `partition_date` mean something else in files without the SDK.
  if (isOfSdk) for (const [word] of code.matchAll(WORDS)) found.add(word);
  if (found.size > 0) return { version: '3.3', because: [...found].toSorted() };
  return isOfSdk ? { version: '3.0', because: ['airflow.sdk'] } : null;
}
