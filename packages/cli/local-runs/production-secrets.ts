/** Connections and variables of the control plane for a replay. Each is announced before the task gets it. */
import type { Client } from '../client/client.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printable } from '../output/text.ts';
import type { RecordedTry } from './recorded-try.ts';
import type { AnswerSecret } from './run-locally.ts';

export const secretsOf =
  (
    context: CliContext,
    client: Client,
    { recorded, taskId }: { recorded: RecordedTry; taskId: string },
  ): AnswerSecret =>
  async ({ kind, name }) => {
    const { text } = await client.post(
      '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/replayValues',
      {
        path: { dag_id: recorded.run.dag_id, dag_run_id: recorded.run.dag_run_id, task_id: taskId },
        body: { kind, name },
      },
    );
    if (text !== null) warn(context, `the task uses the ${kind} ${printable(name)} of the control plane`);
    return text;
  };
