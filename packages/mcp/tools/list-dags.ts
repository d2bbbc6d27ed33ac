/** The tool list_dags: a compact list of DAGs. */
import type { Dag } from '@svc/client/wire-types.ts';
import { z } from 'zod';
import { safeText, safeTextOrNull } from '@svc/spec/text/safe-text.ts';
import { UNTRUSTED_NOTICE } from '../text/untrusted.ts';
import { wholeNumber } from './inputs.ts';
import { result } from './tool.ts';
import type { ToolContext } from './tool.ts';

const TAG_ERROR = 'must be a tag of 1 to 100 characters';

export const listDagsInput = z.strictObject({
  limit: wholeNumber({ min: 1, max: 200, default: 25, about: 'How many DAGs at most' }),
  tag: z
    .string({ error: TAG_ERROR })
    .min(1, { error: TAG_ERROR })
    .max(100, { error: TAG_ERROR })
    .optional()
    .describe('Only DAGs with this tag'),
});

const Run = z.object({
  run_id: z.string(),
  state: z.string(),
  run_after: z.string(),
  start_date: z.string().nullable(),
  end_date: z.string().nullable(),
});

const CompactDag = z.object({
  dag_id: z.string(),
  is_paused: z.boolean().describe('Paused: no new runs start'),
  schedule: z.string().nullable(),
  next_run_after: z.string().nullable(),
  tags: z.array(z.string()),
  has_import_errors: z.boolean(),
  newest_run: Run.nullable().describe('Null: it has never run, or this user may not read runs'),
  newest_failed_run: Run.nullable(),
  description: z.string().nullable().describe('Untrusted text of the author'),
});

export const listDagsOutput = z.object({
  dags: z.array(CompactDag),
  total: z.number().describe('How many DAGs match in all'),
  is_complete: z.boolean().describe('False: there are more than shown; raise limit or give a tag'),
  notice: z.string(),
});
type Output = z.infer<typeof listDagsOutput>;

export const LIST_DAGS = {
  title: 'List DAGs',
  description:
    'Lists the registered DAGs this user may see, with their paused state, schedule, tags, newest run and newest failed run, by id. Read-only. ' +
    'Use it to find the dag_id and run_id that other tools need.',
} as const;

const MAX_TAGS = 10;

export const compactDag = (dag: Dag): z.infer<typeof CompactDag> => ({
  dag_id: safeText(dag.dag_id),
  is_paused: dag.is_paused,
  schedule: safeTextOrNull(dag.timetable_summary, 100),
  next_run_after: dag.next_dagrun_run_after,
  tags: dag.tags.slice(0, MAX_TAGS).map(({ name }) => safeText(name, 100)),
  has_import_errors: dag.has_import_errors,
  newest_run: compactRun(dag.newest_run),
  newest_failed_run: compactRun(dag.newest_failed_run),
  description: safeTextOrNull(dag.description, 200),
});

const compactRun = (run: Dag['newest_run']): z.infer<typeof Run> | null =>
  run
    ? {
        run_id: safeText(run.dag_run_id),
        state: run.state,
        run_after: run.run_after,
        start_date: run.start_date,
        end_date: run.end_date,
      }
    : null;

export async function listDags({ controlPlane }: ToolContext, input: z.infer<typeof listDagsInput>) {
  const { limit, tag } = input;
  const answer = await controlPlane.get('/api/v2/dags', {
    query: { limit, with_newest_runs: true, tags: tag === undefined ? undefined : [tag] },
  });
  const output: Output = {
    dags: answer.dags.map(compactDag),
    total: answer.total_entries,
    is_complete: answer.dags.length >= answer.total_entries,
    notice: UNTRUSTED_NOTICE,
  };
  return result(output, textOf(output, tag));
}

/** If the newest run failed, it is reported only once. */
function runFacts({ newest_run: newest, newest_failed_run: failed }: z.infer<typeof CompactDag>): string[] {
  if (newest === null) return ['never run'];
  const facts = [
    `newest run ${newest.run_id} (${newest.state}${newest.end_date === null ? '' : ` ${newest.end_date}`})`,
  ];
  if (failed !== null && failed.run_id !== newest.run_id) {
    facts.push(`newest failed run ${failed.run_id}${failed.end_date === null ? '' : ` (${failed.end_date})`}`);
  }
  return facts;
}

function textOf({ dags, total, is_complete: isComplete }: Output, tag: string | undefined): string {
  const which = tag === undefined ? '' : ` with the tag ${JSON.stringify(safeText(tag, 100))}`;
  if (dags.length === 0) return `There are no DAGs${which} that this user may see.`;
  const lines = dags.map((dag) => {
    const facts = [
      dag.is_paused ? 'paused' : 'active',
      `schedule ${JSON.stringify(dag.schedule)}`,
      ...(dag.tags.length > 0 ? [`tags ${JSON.stringify(dag.tags)}`] : []),
      ...(dag.has_import_errors ? ['its file has import errors'] : []),
      ...runFacts(dag),
    ];
    return `- ${dag.dag_id}: ${facts.join(', ')}`;
  });
  const more = isComplete ? '' : `\n${total - dags.length} more: raise limit (up to 200) or give a tag.`;
  return `${dags.length} of ${total} DAGs${which}:\n${lines.join('\n')}${more}`;
}
