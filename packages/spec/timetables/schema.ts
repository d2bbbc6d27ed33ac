// A timetable as data, which the compiler writes into the spec and the scheduler reads. Field names are those of
// Airflow 3.2's public timetable classes (airflow.sdk), so a compiler only copies constructor arguments.
//
// type                   fields (? = optional, default in brackets)                    Airflow class or schedule
// null                   -                                                             schedule=None
// once                   -                                                             "@once"
// continuous             -                                                             "@continuous"
// cron_trigger           expression, timezone, interval?[0], run_immediately?[false]   CronTriggerTimetable, "@daily"
// multiple_cron_trigger  expressions, timezone, interval?[0], run_immediately?[false]  MultipleCronTriggerTimetable
// cron_data_interval     expression, timezone                                          CronDataIntervalTimetable
// delta_trigger          delta, interval?[0]                                           DeltaTriggerTimetable, timedelta
// delta_data_interval    delta                                                         DeltaDataIntervalTimetable
// events                 event_dates, restrict_to_events?[false], presorted?[false],   EventsTimetable
//                        description?[null]
// custom                 class, arguments, summary, description, periodic,             an author's own Timetable class;
//                        can_be_scheduled, active_runs_limit, partitioned?, table?     see custom-runs.ts
// asset                  assets                                                        schedule=[Asset("a")], a & b
// cron_partition         expression, timezone, run_offset, run_immediately?[false],    CronPartitionTimetable
//                        key_format
// partitioned_asset      assets, mappers, default_mapper                               PartitionedAssetTimetable
// asset_or_time          timetable (any of the above but asset), assets                AssetOrTimeSchedule
//
// The three asset types also have summary? and description?: an author's class that inherits one may set them itself.
//
// expression   the author's text: five to seven fields or a preset (@daily); presets are resolved here
// timezone     IANA name ("Europe/Paris"), "UTC", or a fixed offset "+05:30"
// delta,       {kind: "timedelta", days?, seconds?, microseconds?}  (Python's normal form: str() and repr() work)
// interval     {kind: "relativedelta", years?, months?, weeks?, days?, hours?, minutes?, seconds?, microseconds?,
//               leapdays?, year?, month?, day?, hour?, minute?, second?, microsecond?, weekday?: [0..6] | [0..6, n]}
// run_immediately  true | false | {kind: "timedelta", ...}
// event_dates  ISO 8601 with offset, up to six decimals: "2026-03-01T06:00:00+01:00"
// assets       {type: "asset", name, uri, group?, extra?} | {type: "asset_alias", name, group?}
//              | {type: "asset_name_ref", name} | {type: "asset_uri_ref", uri}
//              | {type: "asset_all" | "asset_any", objects: [assets, ...]}
//
// The schema checks only the shape. `timetableProblems` (validate.ts) checks that cron expressions and zones exist.

import { Type, type Static } from 'typebox';
import { MapperAnswer, OwnMapper, PartitionMapper } from './partition-mappers.ts';

const closed = { additionalProperties: false } as const;
const optionalInt = Type.Optional(Type.Integer());

export const TimedeltaSpec = Type.Object(
  {
    kind: Type.Literal('timedelta'),
    days: optionalInt,
    seconds: optionalInt,
    microseconds: optionalInt,
  },
  closed,
);
export type TimedeltaSpec = Static<typeof TimedeltaSpec>;

export const RelativedeltaSpec = Type.Object(
  {
    kind: Type.Literal('relativedelta'),
    // Plural names: how far to move.
    years: optionalInt,
    months: optionalInt,
    weeks: optionalInt,
    days: optionalInt,
    leapdays: optionalInt,
    hours: optionalInt,
    minutes: optionalInt,
    seconds: optionalInt,
    microseconds: optionalInt,
    // Singular names: what to set before moving, as in relativedelta(months=1, day=1).
    year: Type.Optional(Type.Integer({ minimum: 1, maximum: 9999 })),
    month: Type.Optional(Type.Integer({ minimum: 1, maximum: 12 })),
    day: Type.Optional(Type.Integer({ minimum: 1, maximum: 31 })),
    hour: Type.Optional(Type.Integer({ minimum: 0, maximum: 23 })),
    minute: Type.Optional(Type.Integer({ minimum: 0, maximum: 59 })),
    second: Type.Optional(Type.Integer({ minimum: 0, maximum: 59 })),
    microsecond: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999 })),
    weekday: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: 2 })),
  },
  closed,
);
export type RelativedeltaSpec = Static<typeof RelativedeltaSpec>;

export const DeltaSpec = Type.Union([TimedeltaSpec, RelativedeltaSpec]);
export type DeltaSpec = Static<typeof DeltaSpec>;

export const AssetCondition = Type.Cyclic(
  {
    AssetCondition: Type.Union([
      Type.Object(
        {
          type: Type.Literal('asset'),
          name: Type.String(),
          uri: Type.String(),
          group: Type.Optional(Type.String()),
          extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        },
        closed,
      ),
      Type.Object(
        { type: Type.Literal('asset_alias'), name: Type.String(), group: Type.Optional(Type.String()) },
        closed,
      ),
      Type.Object({ type: Type.Literal('asset_name_ref'), name: Type.String() }, closed),
      Type.Object({ type: Type.Literal('asset_uri_ref'), uri: Type.String() }, closed),
      Type.Object({ type: Type.Literal('asset_all'), objects: Type.Array(Type.Ref('AssetCondition')) }, closed),
      Type.Object({ type: Type.Literal('asset_any'), objects: Type.Array(Type.Ref('AssetCondition')) }, closed),
    ]),
  },
  'AssetCondition',
);
export type AssetCondition = Static<typeof AssetCondition>;

const expression = Type.String();
const timezone = Type.String();
const interval = Type.Optional(DeltaSpec);
const runImmediately = Type.Optional(Type.Union([Type.Boolean(), TimedeltaSpec]));

const NullTimetable = Type.Object({ type: Type.Literal('null') }, closed);
const OnceTimetable = Type.Object({ type: Type.Literal('once') }, closed);
const ContinuousTimetable = Type.Object({ type: Type.Literal('continuous') }, closed);

const CronTriggerTimetable = Type.Object(
  { type: Type.Literal('cron_trigger'), expression, timezone, interval, run_immediately: runImmediately },
  closed,
);
export type CronTriggerTimetable = Static<typeof CronTriggerTimetable>;

const MultipleCronTriggerTimetable = Type.Object(
  {
    type: Type.Literal('multiple_cron_trigger'),
    expressions: Type.Array(expression, { minItems: 1 }),
    timezone,
    interval,
    run_immediately: runImmediately,
  },
  closed,
);
export type MultipleCronTriggerTimetable = Static<typeof MultipleCronTriggerTimetable>;

const CronDataIntervalTimetable = Type.Object(
  { type: Type.Literal('cron_data_interval'), expression, timezone },
  closed,
);
export type CronDataIntervalTimetable = Static<typeof CronDataIntervalTimetable>;

const DeltaTriggerTimetable = Type.Object({ type: Type.Literal('delta_trigger'), delta: DeltaSpec, interval }, closed);
export type DeltaTriggerTimetable = Static<typeof DeltaTriggerTimetable>;

const DeltaDataIntervalTimetable = Type.Object({ type: Type.Literal('delta_data_interval'), delta: DeltaSpec }, closed);
export type DeltaDataIntervalTimetable = Static<typeof DeltaDataIntervalTimetable>;

const EventsTimetable = Type.Object(
  {
    type: Type.Literal('events'),
    event_dates: Type.Array(Type.String()),
    restrict_to_events: Type.Optional(Type.Boolean()),
    presorted: Type.Optional(Type.Boolean()),
    description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  closed,
);
export type EventsTimetable = Static<typeof EventsTimetable>;

const CronPartitionTimetable = Type.Object(
  {
    type: Type.Literal('cron_partition'),
    expression,
    timezone,
    run_offset: Type.Union([Type.Integer({ minimum: -1_000, maximum: 1_000 }), Type.Null()]),
    run_immediately: runImmediately,
    key_format: Type.String(),
  },
  closed,
);
export type CronPartitionTimetable = Static<typeof CronPartitionTimetable>;

const Interval = { start: Type.String(), end: Type.String() };

export const CustomRun = Type.Object(
  {
    ...Interval,
    run_after: Type.String(),
    run_id: Type.Optional(Type.String()),
    backfill_run_id: Type.Optional(Type.String()),
    partition_key: Type.Optional(Type.String()),
    /**
     * A run of a partition has no dates of its own. Start and end are the earliest moment of its start, from which the
     * chain continues.
     */
    undated: Type.Optional(Type.Literal(true)),
    partition_date: Type.Optional(Type.String()),
  },
  closed,
);
export type CustomRun = Static<typeof CustomRun>;

export const CustomTable = Type.Object(
  {
    after: Type.Union([Type.Object(Interval, closed), Type.Null()]),
    asked_at: Type.String(),
    runs: Type.Array(CustomRun, { maxItems: 10_001 }),
    complete: Type.Boolean(),
  },
  closed,
);
export type CustomTable = Static<typeof CustomTable>;

const CustomTimetable = Type.Object(
  {
    type: Type.Literal('custom'),
    class: Type.String(),
    arguments: Type.Unknown(),
    summary: Type.String(),
    description: Type.String(),
    periodic: Type.Boolean(),
    can_be_scheduled: Type.Boolean(),
    active_runs_limit: Type.Union([Type.Integer(), Type.Null()]),
    partitioned: Type.Optional(Type.Literal(true)),
    table: Type.Optional(CustomTable),
  },
  closed,
);
export type CustomTimetable = Static<typeof CustomTimetable>;

export const TimeTimetableSpec = Type.Union([
  NullTimetable,
  OnceTimetable,
  ContinuousTimetable,
  CronTriggerTimetable,
  MultipleCronTriggerTimetable,
  CronDataIntervalTimetable,
  DeltaTriggerTimetable,
  DeltaDataIntervalTimetable,
  EventsTimetable,
  CustomTimetable,
  CronPartitionTimetable,
]);
/** A timetable that depends only on time: all types except `asset` and `asset_or_time`. */
export type TimeTimetableSpec = Static<typeof TimeTimetableSpec>;

/** Texts that an author's class sets if it inherits the timetable. */
const ownTexts = { summary: Type.Optional(Type.String()), description: Type.Optional(Type.String()) };

const AssetTimetable = Type.Object({ type: Type.Literal('asset'), assets: AssetCondition, ...ownTexts }, closed);
const AssetOrTimeTimetable = Type.Object(
  { type: Type.Literal('asset_or_time'), timetable: TimeTimetableSpec, assets: AssetCondition, ...ownTexts },
  closed,
);

const EventMapper = Type.Union([PartitionMapper, OwnMapper]);
const PartitionedAssetTimetable = Type.Object(
  {
    type: Type.Literal('partitioned_asset'),
    assets: AssetCondition,
    mappers: Type.Array(Type.Object({ asset: AssetCondition, mapper: EventMapper }, closed)),
    default_mapper: EventMapper,
    ...ownTexts,
    /** Answers of own mappers, oldest first. They belong to the current version and are never part of a spec. */
    answers: Type.Optional(Type.Array(MapperAnswer)),
  },
  closed,
);
export type PartitionedAssetTimetable = Static<typeof PartitionedAssetTimetable>;

export const TimetableSpec = Type.Union([
  ...TimeTimetableSpec.anyOf,
  AssetTimetable,
  AssetOrTimeTimetable,
  PartitionedAssetTimetable,
]);
export type TimetableSpec = Static<typeof TimetableSpec>;
