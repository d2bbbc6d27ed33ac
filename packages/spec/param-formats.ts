/** Formats of params for which Airflow and the trigger form of its web UI accept more than JSON Schema allows. */
import { IsDate, IsTime } from 'typebox/format';

type ParamFormat = (text: string) => boolean;

/**
 * The time picker of the form sends a time without an offset, the only form that Airflow accepts. RFC 3339 requires an
 * offset.
 */
const isTime: ParamFormat = (text) => IsTime(text, false);

/** Accepts what authors write: without an offset, with a space, or only a date. Airflow does not check these. */
const isDateTime: ParamFormat = (text) => {
  const [date = '', time, ...rest] = text.split(/[Tt ]/);
  return rest.length === 0 && IsDate(date) && (time === undefined || isTime(time));
};

export const PARAM_FORMATS: Readonly<Record<string, ParamFormat>> = { time: isTime, 'date-time': isDateTime };
