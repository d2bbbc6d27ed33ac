/** Schemas of workers and of the tokens with which they join. */
import { Type } from 'typebox';
import { Collection, DateTime, Nullable } from '../../http/schemas.ts';

export const WorkerKind = Type.Enum(['local', 'warm', 'remote'], {
  description:
    '`local`: the process of the subprocess executor; `warm`: a pod of a warm pool; `remote`: joined with a token',
});
export const WorkerState = Type.Enum(['starting', 'idle', 'busy', 'draining', 'lost', 'gone'], {
  description: '`lost`: nothing was heard of it; `gone`: it has left. Both are shown for an hour',
});
/** The name of one queue, as in Airflow. A comma is refused, because a list is separated by commas. */
export const Queue = Type.String({ minLength: 1, maxLength: 256, pattern: '^[^,\\s][^,]*$' });

export const Worker = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    kind: WorkerKind,
    name: Type.String(),
    pool: Type.String({ description: 'Workers of one pool may run the same tasks' }),
    queues: Type.Array(Type.String(), { description: 'Of a remote worker: whose tasks it takes' }),
    dag_id: Nullable(Type.String({ description: 'Of a warm worker' })),
    version_number: Nullable(Type.Integer()),
    hostname: Type.String(),
    pid: Nullable(Type.Integer()),
    agent_version: Type.String(),
    state: WorkerState,
    slots: Type.Integer({ description: 'How many tasks it runs at once' }),
    running: Type.Integer({ description: 'As of its last sign of life' }),
    attempts_served: Type.Integer(),
    started_at: DateTime,
    last_seen_at: DateTime,
    token_id: Nullable(Type.String({ format: 'uuid', description: 'The token it joined with' })),
    drain_requested_at: Nullable(DateTime),
    drain_requested_by: Nullable(Type.String()),
    drain_why: Nullable(Type.String()),
    ended_why: Nullable(Type.String({ description: 'Why it left, or was given up' })),
  },
  { title: 'Worker' },
);
export const WorkerCollection = Collection('WorkerCollection', 'workers', Worker);

export const DrainWorkerBody = Type.Object(
  { why: Type.Optional(Type.String({ maxLength: 500, description: 'For those who look at it later' })) },
  { title: 'DrainWorkerBody', additionalProperties: false },
);

const TOKEN_FIELDS = {
  id: Type.String({ format: 'uuid' }),
  queues: Type.Array(Type.String()),
  token_start: Type.String({ description: 'How the token begins, to recognise it by' }),
  comment: Type.String(),
  created_by: Type.String(),
  created_at: DateTime,
  expires_at: Nullable(DateTime),
  last_used_at: Nullable(DateTime),
};
export const WorkerToken = Type.Object(TOKEN_FIELDS, { title: 'WorkerToken' });
export const WorkerTokenCollection = Collection('WorkerTokenCollection', 'worker_tokens', WorkerToken);
export const IssuedWorkerToken = Type.Object(
  { ...TOKEN_FIELDS, token: Type.String({ description: 'Shown this once; only its hash is stored' }) },
  { title: 'IssuedWorkerToken' },
);

const YEAR_SECONDS = 366 * 86_400;
export const CreateWorkerTokenBody = Type.Object(
  {
    queues: Type.Array(Queue, { minItems: 1, maxItems: 50, uniqueItems: true }),
    comment: Type.Optional(Type.String({ maxLength: 500 })),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: YEAR_SECONDS,
        description: 'Seconds for which workers may join with it; without it, until it is revoked',
      }),
    ),
  },
  { title: 'CreateWorkerTokenBody', additionalProperties: false },
);
