/** The processes of the control plane in the form of Airflow's jobs. */
import { Type } from 'typebox';
import { listJobs } from '../../db/processes/jobs.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { Collection, DateTime, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { Job, jobBody } from './job-body.ts';

const ORDER_COLUMNS = {
  id: 'id',
  job_type: 'job_type',
  state: 'state',
  hostname: 'hostname',
  unixname: 'unixname',
  executor_class: 'executor_class',
  start_date: 'start_date',
  end_date: 'end_date',
  latest_heartbeat: 'latest_heartbeat',
} as const;
/** Accepted because Airflow has it. It has the same value for all jobs here. */
const NO_ORDER = ['dag_id'];

const END_OPERATORS = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;
type RangeName = `${'start_date' | 'end_date'}_${keyof typeof END_OPERATORS}`;

const Ranges = {
  start_date_gte: Type.Optional(DateTime),
  start_date_gt: Type.Optional(DateTime),
  start_date_lte: Type.Optional(DateTime),
  start_date_lt: Type.Optional(DateTime),
  end_date_gte: Type.Optional(DateTime),
  end_date_gt: Type.Optional(DateTime),
  end_date_lte: Type.Optional(DateTime),
  end_date_lt: Type.Optional(DateTime),
} satisfies Record<RangeName, unknown>;

export function registerJobs(app: App, { db }: Services): void {
  app.get(
    '/api/v2/jobs',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'get_jobs',
        tags: ['Monitoring'],
        summary: 'List the processes of the control plane',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery([...Object.keys(ORDER_COLUMNS), ...NO_ORDER]),
          ...Ranges,
          is_alive: Type.Optional(Type.Boolean()),
          job_state: Type.Optional(Type.String()),
          job_type: Type.Optional(Type.String()),
          hostname: Type.Optional(Type.String()),
          executor_class: Type.Optional(Type.String()),
        }),
        response: { 200: Collection('JobCollection', 'jobs', Job) },
      },
    },
    async (request) => {
      const { limit, offset, order_by: keys, is_alive: isAlive, job_state: state, job_type: jobType } = request.query;
      const { hostname, executor_class: executorClass } = request.query;
      const { jobs, total } = await listJobs(db.shared, {
        limit,
        offset,
        order: parseOrderBy(
          keys?.filter((key) => !NO_ORDER.includes(key.replace(/^-/, ''))),
          ORDER_COLUMNS,
          [{ column: 'id', direction: 'asc' }],
        ),
        range: rangeOf(request.query),
        ...(isAlive !== undefined && { isAlive }),
        ...(state && { state }),
        ...(jobType && { jobType }),
        ...(hostname && { hostname }),
        ...(executorClass && { executorClass }),
      });
      return { jobs: jobs.map(jobBody), total_entries: total };
    },
  );
}

function rangeOf(query: Partial<Record<RangeName, string>>) {
  return (['start_date', 'end_date'] as const).flatMap((column) =>
    (['gte', 'gt', 'lte', 'lt'] as const).flatMap((end) => {
      const moment = query[`${column}_${end}`];
      return moment === undefined ? [] : [{ column, operator: END_OPERATORS[end], moment }];
    }),
  );
}
