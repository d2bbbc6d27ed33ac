import { Type } from 'typebox';
import { Nullable } from '../../http/schemas.ts';

const seconds = (description: string) => Type.Number({ description });
const bytes = (description: string) => Type.Number({ description });

const Wait = Type.Object(
  {
    reason: Type.String({ description: 'A wait reason, or `slot` or `dispatched`' }),
    meaning: Type.String({ description: 'What the reason means, as a sentence' }),
    seconds: Type.Number(),
  },
  { title: 'CostWait' },
);

const AMOUNTS = {
  tries: Type.Integer({ description: 'Tries that have ended and have reported their usage' }),
  seconds: seconds('Seconds that processes had these tasks'),
  cpu_seconds: seconds('Seconds of processors'),
  gib_seconds: seconds('GiB of memory times seconds: the peak of each attempt times its time'),
  memory_bytes: bytes('The largest private memory of a try'),
  read_bytes: bytes('Bytes read from storage'),
  written_bytes: bytes('Bytes written to storage'),
  cost: Nullable(Type.Number({ description: 'By the prices of the configuration. Null without prices' })),
};

export const Cost = Type.Object(
  {
    by: Type.String(),
    since: Type.String({ format: 'date', description: 'The first day that counts, in UTC' }),
    currency: Nullable(Type.String()),
    total: Type.Object(AMOUNTS, {
      title: 'CostTotal',
      description: 'Of all DAGs. Groups of owners, tags and assets may overlap, or leave out tasks',
    }),
    groups: Type.Array(
      Type.Object(
        {
          key: Type.String({ description: 'Empty for DAGs without an owner or tag' }),
          ...AMOUNTS,
          waits: Nullable(
            Type.Array(Wait, {
              description: 'Longest first. Null for groups that divide a DAG: see a try for its waits',
            }),
          ),
        },
        { title: 'CostGroup' },
      ),
      { description: 'The most expensive first' },
    ),
    total_entries: Type.Integer(),
  },
  { title: 'Cost' },
);

export const TaskInstanceUsage = Type.Object(
  {
    currency: Nullable(Type.String()),
    tries: Type.Array(
      Type.Object(
        {
          try_number: Type.Integer(),
          state: Nullable(Type.String()),
          queue: Type.String(),
          seconds: Nullable(seconds('Seconds that its processes had the task. Null: not known')),
          cpu_seconds: Nullable(Type.Number()),
          gib_seconds: Nullable(Type.Number()),
          memory_bytes: Nullable(bytes('The largest private memory of its processes')),
          read_bytes: Nullable(Type.Number()),
          written_bytes: Nullable(Type.Number()),
          cost: Nullable(Type.Number()),
          waits: Type.Array(Wait),
        },
        { title: 'TryUsage' },
      ),
    ),
    total_entries: Type.Integer(),
  },
  { title: 'TaskInstanceUsage' },
);

export const CostAdvice = Type.Object(
  {
    tasks: Type.Array(
      Type.Object(
        {
          task_id: Type.String(),
          tries: Type.Integer({ description: 'Successful instances in the last 30 runs' }),
          memory_max_bytes: Type.Number(),
          memory_p95_bytes: Type.Number(),
          cpus_p95: Type.Number({ description: 'Processors that were busy on average, in the 95th of 100 instances' }),
          seconds_median: Type.Number(),
          requested: Type.Object({ cpu: Nullable(Type.String()), memory: Nullable(Type.String()) }),
          suitable: Type.Object(
            { cpu: Type.String(), memory: Type.String() },
            { description: 'Values for `resources` in svc.yaml' },
          ),
          advice: Type.Array(
            Type.Object({
              code: Type.Enum(['memory_over_requested', 'memory_under_requested', 'slower_version'] as (
                | 'memory_over_requested'
                | 'memory_under_requested'
                | 'slower_version'
              )[]),
              text: Type.String(),
            }),
          ),
        },
        { title: 'TaskCostAdvice' },
      ),
    ),
    total_entries: Type.Integer(),
  },
  { title: 'CostAdvice' },
);
