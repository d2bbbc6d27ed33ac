/** Formats of params where Airflow, and the trigger form of its web UI, take more than JSON Schema says. */
import { IsDate, IsTime } from 'typebox/format';

type ParamFormat = (text: string) => boolean;

/** The form's time picker gives a time without an offset, the only one Airflow takes; RFC 3339 asks for one. */
const isTime: ParamFormat = (text) => IsTime(text, false);

/** As authors write them: without an offset, with a space, or the date alone. Airflow looks at none of these. */
const isDateTime: ParamFormat = (text) => {
  const [date = '', time, ...rest] = text.split(/[Tt ]/);
  return rest.length === 0 && IsDate(date) && (time === undefined || isTime(time));
};

export const PARAM_FORMATS: Readonly<Record<string, ParamFormat>> = { time: isTime, 'date-time': isDateTime };
