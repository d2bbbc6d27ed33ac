/** Schemas of backfills in requests and answers. */
import { Type } from 'typebox';
import type { BackfillRow } from '../../db/dag-runs/backfills.ts';
import { maskedWithout } from '../../http/masked-fields.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';

const Conf = Type.Record(Type.String(), Type.Unknown());
const Reprocess = Type.Enum(['none', 'failed', 'completed'], {
  description:
    'What becomes of dates that have a run: `none` leaves it, `failed` runs it again if it failed, `completed` if it has ended',
});

export const Backfill = Type.Object(
  {
    id: Type.Integer({ minimum: 0 }),
    dag_id: Type.String(),
    dag_display_name: Type.String(),
    from_date: DateTime,
    to_date: DateTime,
    dag_run_conf: Nullable(Type.Record(Type.String(), Type.Unknown(), maskedWithout('write:dag_run'))),
    is_paused: Type.Boolean(),
    reprocess_behavior: Reprocess,
    max_active_runs: Type.Integer(),
    created_at: DateTime,
    completed_at: Nullable(DateTime),
    updated_at: DateTime,
  },
  { title: 'Backfill' },
);

/** Sort keys of both lists of backfills. */
export const BACKFILL_ORDER = {
  id: 'id',
  created_at: 'created_at',
  from_date: 'from_date',
  to_date: 'to_date',
  completed_at: 'completed_at',
} as const;

export const BackfillCreate = Type.Object(
  {
    dag_id: Type.String(),
    from_date: Type.String({ format: 'date-time', description: 'The first date; with its time zone' }),
    to_date: Type.String({
      format: 'date-time',
      description: 'The last date, included; what is not due yet is left out',
    }),
    run_backwards: Type.Boolean({ default: false, description: 'Newest first' }),
    dag_run_conf: Type.Optional(Nullable(Conf)),
    reprocess_behavior: Type.Enum(['none', 'failed', 'completed'], { default: 'none' }),
    max_active_runs: Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      default: 10,
      description: 'How many of its runs run at a time; beside the limit of the DAG, not within it',
    }),
    run_on_latest_version: Type.Optional(
      Nullable(
        Type.Boolean({
          description: 'Bind runs that run again to the newest version of the DAG. Default, and with null: true',
        }),
      ),
    ),
  },
  { title: 'BackfillCreate', additionalProperties: false },
);

export const BackfillDates = Type.Object(
  {
    backfills: Type.Array(
      Type.Object({
        logical_date: Nullable(DateTime),
        partition_key: Nullable(Type.String()),
        partition_date: Nullable(DateTime),
      }),
    ),
    total_entries: Type.Integer(),
  },
  { title: 'BackfillDryRun' },
);

export const backfillBody = (row: BackfillRow) => ({
  id: row.id,
  dag_id: row.dag_id,
  dag_display_name: row.display_name,
  from_date: row.from_date,
  to_date: row.to_date,
  dag_run_conf: row.dag_run_conf,
  is_paused: row.is_paused,
  reprocess_behavior: row.reprocess_behavior,
  max_active_runs: row.max_active_runs,
  created_at: row.created_at,
  completed_at: row.completed_at,
  updated_at: row.updated_at,
});
