/** The tasks of a DAG's newest version. */
import { Type } from 'typebox';
import { findDag } from '../../db/dags/dags.ts';
import { databaseOf } from '../../http/access.ts';
import { taskBody } from './bodies.ts';
import { ShownAs } from '../../http/schemas.ts';
import { Task, TaskCollection } from './schemas.ts';
import { readSpec } from './specs.ts';
import { noSuchDag } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const TAGS = ['Tasks'];

export function registerTasks(app: App, { db }: Services): void {
  app.get(
    '/api/v2/dags/:dag_id/tasks',
    {
      config: { grows: 'tasks', access: 'read:dag' },
      schema: {
        operationId: 'get_tasks',
        tags: TAGS,
        summary: 'List the tasks of a DAG',
        params: Type.Object({ dag_id: Type.String() }),
        querystring: Type.Object({
          order_by: Type.Optional(
            ShownAs(Type.String(), {
              type: 'string',
              enum: ['', ...Object.keys(Task.properties).flatMap((key) => [key, `-${key}`])],
              description: 'A field of a task; a leading `-` sorts downward. Default: task_id',
            }),
          ),
        }),
        response: { 200: TaskCollection },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      if (!(await findDag(scope, request.params.dag_id))) throw noSuchDag(request.params.dag_id);
      const spec = await readSpec(scope, request.params.dag_id);
      const tasks = sorted(spec.tasks.map(taskBody), request.query.order_by || 'task_id');
      return { tasks, total_entries: tasks.length };
    },
  );

  app.get(
    '/api/v2/dags/:dag_id/tasks/:task_id',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_task',
        tags: TAGS,
        summary: 'Get one task of a DAG',
        params: Type.Object({ dag_id: Type.String(), task_id: Type.String() }),
        response: { 200: Task },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId, task_id: taskId } = request.params;
      if (!(await findDag(scope, dagId))) throw noSuchDag(dagId);
      const task = (await readSpec(scope, dagId)).tasks.find((candidate) => candidate.task_id === taskId);
      if (!task) throw new ApiError('not_found', `Task with id ${taskId} was not found in Dag ${dagId}`);
      return taskBody(task);
    },
  );
}

type TaskBody = ReturnType<typeof taskBody>;

function sorted(tasks: TaskBody[], orderBy: string): TaskBody[] {
  const key = orderBy.replace(/^-/, '');
  if (!Object.hasOwn(Task.properties, key)) {
    throw new ApiError('invalid_request', `order_by: "${key.slice(0, 100)}" is not a field of a task`);
  }
  const direction = orderBy.startsWith('-') ? -1 : 1;
  const value = (task: TaskBody) => JSON.stringify(task[key as keyof TaskBody] ?? null);
  return tasks.sort((a, b) => direction * compare(a, b, value));
}

function compare(a: TaskBody, b: TaskBody, value: (task: TaskBody) => string): number {
  const [left, right] = [value(a), value(b)];
  if (left !== right) return left < right ? -1 : 1;
  return a.task_id < b.task_id ? -1 : 1;
}
