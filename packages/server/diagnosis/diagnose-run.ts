/**
 * The one diagnosis of the product. The API, MCP, the command line and alerts use it. It reads rows and logs, and
 * changes nothing.
 */
import { safeText } from '@svc/spec/text/safe-text.ts';
import { findCurrentVersion } from '../db/dags/version-lookups.ts';
import type { ListedInstance } from '../db/task-instances/task-instances.ts';
import { readFailedTries, readFailures } from './failures.ts';
import type { FailureParts } from './failures.ts';
import { runHistoryOf } from './history.ts';
import type { ReadTail } from './log-tail.ts';
import { mergeModels, modelsInLog, modelsOfTask } from './models.ts';
import type { Model } from './models.ts';
import { readRunFacts } from './read-facts.ts';
import type { DiagnosisSources, RunFacts } from './read-facts.ts';
import { skipsOf } from './skips.ts';
import type { Skip } from './skips.ts';
import type { Diagnosis } from './types.ts';
import { readWaits, runWaitOf } from './waits.ts';

const MAX_FAILURES = 20;
const MAX_SKIPPED_SHOWN = 20;

/** Returns undefined if there is no such run. */
export async function diagnoseRun(
  sources: DiagnosisSources,
  { dagId, runId, logTailLines }: { dagId: string; runId: string; logTailLines: number },
): Promise<Diagnosis | undefined> {
  const facts = await readRunFacts(sources, { dagId, runId, maxFailures: MAX_FAILURES });
  if (!facts) return undefined;
  const { run, dag, counts, versions } = facts;
  const [parts, waits, runWait, retriedTries, newestVersion] = await Promise.all([
    readFailures(sources, facts, logTailLines),
    readWaits(sources, facts.waiting, dag?.is_paused ?? false),
    runWaitOf(sources, facts),
    readFailedTries(sources, facts.retried),
    findCurrentVersion(sources.scope, dagId),
  ]);
  return {
    dag_id: run.dag_id,
    dag_run_id: run.run_id,
    state: run.state,
    run_type: run.run_type,
    logical_date: run.logical_date,
    run_after: run.run_after,
    start_date: run.start_date,
    end_date: run.end_date,
    duration: run.duration,
    dag_versions: versions.map((version) => ({
      version_number: version.version_number,
      created_at: version.created_at,
      bundle_name: version.bundle_name,
      bundle_version: version.bundle_version,
      bundle_url: version.bundle_url,
    })),
    counts,
    run_wait: runWait,
    failures: parts.failures,
    failures_not_shown: Math.max(0, counts.failed + counts.up_for_retry - parts.failures.length),
    ...waits,
    retried: facts.retried.map((instance) => ({
      task_id: safeText(instance.task_id),
      map_index: instance.map_index,
      try_number: instance.try_number,
      failed_tries: retriedTries.get(instance) ?? [],
    })),
    skipped: skippedOf(facts),
    models: modelsOf(facts, parts),
    history: runHistoryOf(run, facts.runsBefore, newestVersion ?? null),
  };
}

function skippedOf({ tasks, skipped }: RunFacts): Skip[] {
  const known = [...tasks.values()].flatMap((version) => [...version.values()]);
  return skipsOf(known, skipped)
    .slice(0, MAX_SKIPPED_SHOWN)
    .map((skip) => ({ ...skip, task_id: safeText(skip.task_id), why: safeText(skip.why) }));
}

function modelsOf(facts: RunFacts, { logs }: FailureParts): Model[] {
  const selected = facts.failures.flatMap((instance) => {
    const task = facts.tasks.get(instance.version_number)?.get(instance.task_id);
    return task ? modelsOfTask(task) : [];
  });
  return mergeModels([...[...logs].flatMap(modelsInTail), ...selected]);
}

const modelsInTail = ([instance, tail]: readonly [ListedInstance, ReadTail]): Model[] =>
  modelsInLog(instance.task_id, [...tail.earlierErrors, ...tail.lines]);
