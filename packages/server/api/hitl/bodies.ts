/** Questions of tasks as the API shows them, and a check whether an answer fits its question. */
import type { ParamSpec } from '@svc/spec/schema-parts.ts';
import type { TenantDb } from '../../db/database.ts';
import type { Answer, HitlRequest } from '../../db/task-instances/hitl.ts';
import { findInstances } from '../../db/task-instances/task-instances.ts';
import { paramProblems } from '../../engine/runs/run-params.ts';
import { instanceBodies } from '../task-instances/bodies.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';

export function hitlFields(question: HitlRequest) {
  const { responded_by_id: id, responded_by_name: name } = question;
  return {
    options: question.options,
    subject: question.subject,
    body: question.body,
    defaults: question.defaults,
    multiple: question.multiple,
    params: question.params,
    assigned_users: question.assigned_users,
    created_at: question.created_at,
    responded_by_user: id === null ? null : { id, name: name ?? id },
    responded_at: question.responded_at,
    chosen_options: question.chosen_options,
    params_input: question.params_input,
    response_received: question.responded_at !== null,
  };
}

const keyOf = (row: { run: number; task_id: string; map_index: number }): string =>
  `${row.run} ${row.map_index} ${row.task_id}`;

/** Returns questions with their task instances. A question whose instance no longer exists is omitted. */
export async function hitlBodies(scope: TenantDb, summaries: TaskSummaries, questions: readonly HitlRequest[]) {
  const rows = await findInstances(
    scope,
    questions.map(({ run, task_id: taskId, map_index: mapIndex }) => ({ run, taskId, mapIndex })),
  );
  const bodies = await instanceBodies(scope, summaries, rows);
  const byKey = new Map(rows.map((row, index) => [keyOf(row), bodies[index]]));
  return questions.flatMap((question) => {
    const body = byKey.get(keyOf(question));
    return body ? [{ ...hitlFields(question), task_instance: body }] : [];
  });
}

/** Returns what is wrong with an answer, for the person who gave it. */
export function answerProblem(question: HitlRequest, { chosenOptions, paramsInput }: Answer): string | undefined {
  const { options, multiple, params } = question;
  const unknown = chosenOptions.filter((option) => !options.includes(option));
  if (unknown.length > 0) return `chosen_options: ${quoted(unknown)} is none of the options ${quoted(options)}`;
  if (chosenOptions.length > 1 && !multiple) return 'chosen_options: the question takes one option only';
  const strange = Object.keys(paramsInput).filter((name) => !Object.hasOwn(params, name));
  if (strange.length > 0) return `params_input: the question has no field ${quoted(strange)}`;
  const fields = Object.entries(params).map(([name, { value, schema, description }]): ParamSpec => ({
    name,
    schema,
    description,
    source: 'task',
    has_default: true,
    default: value,
  }));
  const given = fields.filter(({ name }) => Object.hasOwn(paramsInput, name));
  return paramProblems(given, paramsInput)[0]?.replace(/^conf\./, 'params_input.');
}

const quoted = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text.slice(0, 100))).join(', ');
