// Checks a timetable before registration for everything that a schema cannot express.

import { parseCron } from './cron-expression.ts';
import { unknownZone } from './cron-schedule.ts';
import { deltaText, roughSeconds } from './delta.ts';
import { instantFromIso } from './instant.ts';
import type { DeltaSpec, TimetableSpec } from './schema.ts';
import { mapperProblems } from './partition-mappers.ts';
import { unknownCode } from './python-dates.ts';
import { notADate } from './simple-runs.ts';
import { zoneNamed } from './zone.ts';

export interface TimetableProblem {
  /** The field of the spec, as in `timetable.expressions[1]`. */
  readonly path: string;
  readonly message: string;
}

const cronProblems = (path: string, expression: string): TimetableProblem[] => {
  const parsed = parseCron(expression);
  return parsed.ok ? [] : [{ path, message: parsed.problem }];
};

const zoneProblems = (path: string, timezone: string): TimetableProblem[] =>
  zoneNamed(timezone) === null ? [{ path, message: unknownZone(timezone) }] : [];

/**
 * Measures only the moving part of a delta. Airflow adds the delta to the current time and checks whether it grew. It
 * therefore accepts relativedelta(day=31) on most days of the month, although such a delta never passes the 31st.
 */
const deltaProblems = (path: string, delta: DeltaSpec): TimetableProblem[] => {
  const grows = roughSeconds(delta) > 0 || (roughSeconds(delta) === 0 && (delta.microseconds ?? 0) > 0);
  if (grows) return [];
  return [{ path, message: `schedule interval must be positive, not ${deltaText(delta)}. Give a delta above zero.` }];
};

const problemsAt = (prefix: string, timetable: TimetableSpec): TimetableProblem[] => {
  switch (timetable.type) {
    case 'null':
    case 'once':
    case 'continuous':
    case 'asset':
      return [];
    case 'cron_trigger':
    case 'cron_data_interval':
      return [
        ...cronProblems(`${prefix}expression`, timetable.expression),
        ...zoneProblems(`${prefix}timezone`, timetable.timezone),
      ];
    case 'multiple_cron_trigger':
      return [
        ...timetable.expressions.flatMap((text, index) => cronProblems(`${prefix}expressions[${index}]`, text)),
        ...zoneProblems(`${prefix}timezone`, timetable.timezone),
      ];
    case 'delta_trigger':
    case 'delta_data_interval':
      return deltaProblems(`${prefix}delta`, timetable.delta);
    case 'events':
      return timetable.event_dates.flatMap((text, index) =>
        instantFromIso(text) === null ? [{ path: `${prefix}event_dates[${index}]`, message: notADate(text) }] : [],
      );
    case 'custom':
      return (timetable.table?.runs ?? []).flatMap((run, index) =>
        [run.start, run.end, run.run_after, ...(run.partition_date === undefined ? [] : [run.partition_date])].flatMap(
          (text) =>
            instantFromIso(text) === null ? [{ path: `${prefix}table.runs[${index}]`, message: notADate(text) }] : [],
        ),
      );
    case 'cron_partition': {
      const code = unknownCode(timetable.key_format, 'write');
      const message = `the format code "${code}" is not known to partition keys`;
      return [
        ...cronProblems(`${prefix}expression`, timetable.expression),
        ...zoneProblems(`${prefix}timezone`, timetable.timezone),
        ...(code === null ? [] : [{ path: `${prefix}key_format`, message }]),
      ];
    }
    case 'partitioned_asset':
      return [timetable.default_mapper, ...timetable.mappers.map(({ mapper }) => mapper)]
        .flatMap(mapperProblems)
        .map((message) => ({ path: `${prefix}mappers`, message }));
    case 'asset_or_time':
      return problemsAt(`${prefix}timetable.`, timetable.timetable);
  }
};

/** Returns no problem if the scheduler can evaluate the timetable. */
export const timetableProblems = (timetable: TimetableSpec): TimetableProblem[] => problemsAt('', timetable);
