/** Range filters on a field of a list, with Airflow's names: `run_after_gte`, `run_after_gt`, … */
import { Type } from 'typebox';
import type { TOptional, TSchema } from 'typebox';

const RANGE_ENDS = ['gte', 'gt', 'lte', 'lt'] as const;
type RangeEnd = (typeof RANGE_ENDS)[number];

type RangeProperties<Fields extends Record<string, TSchema>> = {
  [Field in keyof Fields & string as `${Field}_${RangeEnd}`]: TOptional<Fields[Field]>;
};

/** The four limits of each field as optional properties of a query or a body. */
export const rangeProperties = <Fields extends Record<string, TSchema>>(fields: Fields): RangeProperties<Fields> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([field, schema]) =>
      RANGE_ENDS.map((end) => [`${field}_${end}`, Type.Optional(schema)] as const),
    ),
  ) as RangeProperties<Fields>;

/** The limits of a field that the request contains. In bodies, null means that the limit is absent. */
type Range = { [End in RangeEnd]?: string | number };
type Limits<Field extends string> = { [Key in `${Field}_${RangeEnd}`]?: string | number | null | undefined };

export function rangeOf<Field extends string>(asked: Limits<Field>, field: Field): Range | undefined {
  const range: Range = {};
  for (const end of RANGE_ENDS) {
    const limit = asked[`${field}_${end}`];
    if (limit !== null && limit !== undefined) range[end] = limit;
  }
  return Object.keys(range).length === 0 ? undefined : range;
}

const OPERATORS = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

/** The same limits of a date field, as comparisons. */
export const comparisonsOf = <Field extends string>(
  asked: { [Key in `${Field}_${RangeEnd}`]?: string },
  field: Field,
) =>
  RANGE_ENDS.flatMap((end) => {
    const moment = asked[`${field}_${end}`];
    return moment === undefined ? [] : [{ operator: OPERATORS[end], moment }];
  });
