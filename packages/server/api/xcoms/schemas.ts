/** Schemas of cross-task values in requests and answers. */
import { Type } from 'typebox';
import { DateTime, NO_FOLDER, Nullable } from '../../http/schemas.ts';

const MAX_INT = 2_147_483_647;

export const MapIndex = Type.Integer({ minimum: -1, maximum: MAX_INT, default: -1, description: '-1: not mapped' });

const SUMMARY = {
  key: Type.String(),
  timestamp: DateTime,
  logical_date: Nullable(DateTime),
  map_index: Type.Integer(),
  task_id: Type.String(),
  dag_id: Type.String(),
  run_id: Type.String(),
  dag_run_id: Type.String({ description: 'The same as run_id' }),
  dag_display_name: Type.String(),
  task_display_name: Type.String(),
  run_after: DateTime,
};

export const XcomSummary = Type.Object(SUMMARY, { title: 'XComSummary' });

export const Xcom = Type.Object(
  { ...SUMMARY, value: Type.Unknown({ description: 'Any JSON value; with `stringify` a string, or null' }) },
  { title: 'XCom' },
);

const Value = Type.Unknown({ description: 'Any JSON value without the keys Airflow encodes other types with' });
const CLOSED = { additionalProperties: false };

export const XcomCreate = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 512, pattern: NO_FOLDER }),
    value: Value,
    map_index: Type.Optional(MapIndex),
  },
  { title: 'XComCreateBody', ...CLOSED },
);

export const XcomUpdate = Type.Object(
  { value: Value, map_index: Type.Optional(MapIndex) },
  { title: 'XComUpdateBody', ...CLOSED },
);

const Moment = Type.Optional(DateTime);

export const XcomFilters = {
  xcom_key: Type.Optional(Type.String()),
  map_index: Type.Optional(Type.Integer({ minimum: -1, maximum: MAX_INT })),
  map_index_filter: Type.Optional(Type.Integer({ minimum: -1, maximum: MAX_INT, description: 'The same' })),
  run_after_gte: Moment,
  run_after_gt: Moment,
  run_after_lte: Moment,
  run_after_lt: Moment,
  logical_date_gte: Moment,
  logical_date_gt: Moment,
  logical_date_lte: Moment,
  logical_date_lt: Moment,
};
