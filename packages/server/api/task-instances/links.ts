/**
 * Links that operators add to their task instances. A task computes them at its end and stores them with its XComs.
 * Only code of the provider knows their targets, and none of it runs here.
 */
import { Type } from 'typebox';
import type { TenantDb } from '../../db/database.ts';
import { findXcom } from '../../db/task-instances/xcoms.ts';
import type { ListedInstance } from '../../db/task-instances/task-instances.ts';
import { databaseOf } from '../../http/access.ts';
import type { App } from '../../http/typed-app.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import type { Services } from '../services.ts';
import { surroundingsOf } from './bodies.ts';
import { MapIndexQuery, RUN_PATH, TAGS, TaskParams, existingInstance } from './paths.ts';
import { ExtraLinks, MAX_INT } from './schemas.ts';
import { existingTry } from './tries.ts';

export function registerTaskInstanceLinks(app: App, { db }: Services, summaries: TaskSummaries): void {
  app.get(
    `${RUN_PATH}/:task_id/links`,
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_extra_links',
        tags: TAGS,
        summary: 'List the links that an operator adds to a task instance; null before the task has made them',
        params: TaskParams,
        querystring: Type.Object({
          ...MapIndexQuery,
          try_number: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: MAX_INT,
              description: 'Default: the current one; of others none are kept',
            }),
          ),
        }),
        response: { 200: ExtraLinks },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { map_index: mapIndex, try_number: tryNumber } = request.query;
      const instance = await existingInstance(scope, request.params, mapIndex);
      const isCurrent = tryNumber === undefined || tryNumber === instance.try_number;
      if (!isCurrent) await existingTry(scope, request.params, mapIndex, tryNumber);
      const links = await linksOf(scope, summaries, instance, { isCurrent });
      return { extra_links: links, total_entries: Object.keys(links).length };
    },
  );
}

/** A new try starts without the XComs of the previous one, so only the current try has links. */
async function linksOf(
  db: TenantDb,
  summaries: TaskSummaries,
  instance: ListedInstance,
  { isCurrent }: { isCurrent: boolean },
) {
  const { task } = (await surroundingsOf(db, summaries, [instance]))(instance);
  const { run, task_id: taskId, map_index: mapIndex } = instance;
  const found = Object.entries(task?.linkKeys ?? {}).map(async ([name, key]) => {
    const row = isCurrent ? await findXcom(db, { run, taskId, mapIndex, key }, null) : undefined;
    return [name, addressOf(row?.value)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

/** Accepts only links to web pages, because people click on them. */
function addressOf(text: string | null | undefined): string | null {
  const value: unknown = text ? JSON.parse(text) : null;
  if (typeof value !== 'string') return null;
  if (/^\/(?!\/)/.test(value)) return value;
  return URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol) ? value : null;
}
