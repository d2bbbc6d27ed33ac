/** Reports what was removed, or would be, as a table and as JSON. */
import type { KeptFor } from '@svc/server/db/prune/old-runs.ts';
import type { PruneReport, TenantReport, Totals } from '@svc/server/retention/prune.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import { count, timeText } from '../output/wording.ts';

const NOUNS: Record<keyof Totals, string> = {
  runs: 'runs',
  taskInstances: 'task instances',
  earlierTries: 'earlier tries',
  xcoms: 'XComs',
  taskStates: 'task states',
  renderedFields: 'rendered fields',
  assetEvents: 'asset events',
  backfills: 'backfills',
  auditEntries: 'audit log entries',
};
const KINDS = Object.keys(NOUNS) as (keyof Totals)[];
/** Their exact number is known only after the runs are removed. */
const AT_MOST = new Set<keyof Totals>(['assetEvents', 'backfills']);

const REASONS: Record<KeptFor, string> = {
  newest_of_dag: 'the newest of their DAG',
  next_run: 'looked at by the next run, or one under way',
  backfill: 'of a backfill that is not over',
  unfinished: 'something of them is still to be done',
};

export const totalOf = (tenants: readonly TenantReport[], kind: keyof Totals): number =>
  tenants.reduce((sum, { removed }) => sum + removed[kind], 0);

export function printPruneReport(
  context: CliContext,
  report: PruneReport,
  request: { isApplied: boolean; isJson: boolean },
): void {
  const { isApplied, isJson } = request;
  if (isJson) return printJson(context, asJson(report, isApplied));
  const { stdout } = context;
  const rows = report.tenants.flatMap(({ tenant, removed }) =>
    KINDS.filter((kind) => removed[kind] > 0).map((kind) => ({ tenant, kind, rows: removed[kind] })),
  );
  const until = `that ended before ${timeText(report.before)} UTC`;
  if (rows.length === 0) stdout.write(`Nothing to remove: there are no runs ${until} that may go.\n`);
  else {
    printTable(stdout, {
      columns: [
        { title: 'TENANT', value: (row) => row.tenant },
        { title: isApplied ? 'REMOVED' : 'WOULD GO', value: (row) => NOUNS[row.kind] },
        {
          title: 'ROWS',
          value: (row) => `${!isApplied && AT_MOST.has(row.kind) ? 'at most ' : ''}${row.rows}`,
          align: 'right',
        },
      ],
      rows,
    });
    stdout.write(`\nRuns ${until}, with their logs.\n`);
  }
  for (const line of keptLines(report.tenants)) stdout.write(`${line}\n`);
  if (report.logsProblem !== null)
    stdout.write(`Their logs are still there, and are removed by a scheduler later: ${report.logsProblem}\n`);
  if (!isApplied && rows.length > 0) stdout.write('Nothing was changed: --apply does it.\n');
}

function keptLines(tenants: readonly TenantReport[]): string[] {
  const reasons = (Object.keys(REASONS) as KeptFor[]).flatMap((reason) => {
    const runs = tenants.reduce((sum, { kept }) => sum + kept[reason], 0);
    return runs === 0 ? [] : [`${count(runs, 'run')} of that age stay: ${REASONS[reason]}.`];
  });
  const busy = tenants.reduce((sum, each) => sum + each.busy, 0);
  return busy === 0 ? reasons : [...reasons, `${count(busy, 'run')} were in use and stay for now: run it again.`];
}

const asJson = (
  { before, auditBefore, isFinished, logsProblem, tenants }: PruneReport,
  isApplied: boolean,
): object => ({
  applied: isApplied,
  finished: isFinished,
  before,
  audit_before: auditBefore,
  logs_problem: logsProblem,
  tenants: tenants.map(({ tenant, removed, kept, busy }) => ({
    tenant,
    [isApplied ? 'removed' : 'would_go']: {
      runs: removed.runs,
      task_instances: removed.taskInstances,
      earlier_tries: removed.earlierTries,
      xcoms: removed.xcoms,
      task_states: removed.taskStates,
      rendered_fields: removed.renderedFields,
      asset_events: removed.assetEvents,
      backfills: removed.backfills,
      audit_entries: removed.auditEntries,
    },
    kept,
    busy,
  })),
});
