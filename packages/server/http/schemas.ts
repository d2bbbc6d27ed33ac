/** Building blocks that the schemas of all resources use. */
import { Type } from 'typebox';
import type { TSchema } from 'typebox';

/**
 * Allows null. Where possible it becomes `type: [x, "null"]`, which is shorter in the document and faster to serialise
 * than a union.
 */
export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** Refuses `.` and `..` as names in a path. They mean folders there, and URL parsers resolve them in every encoding. */
export const NO_FOLDER = String.raw`^(?!\.\.?$)`;

/**
 * A schema that the document shows in a narrower form than the validator checks. The handler refuses the rest, with a
 * better message than the validator has.
 */
export const ShownAs = <Schema extends TSchema>(schema: Schema, shown: object): Schema => ({
  ...schema,
  [SHOWN_AS]: shown,
});
export const SHOWN_AS = 'x-shown-as';

/** Airflow's field for a team. Clients send it back as they read it (null), or as forms send it (empty). */
export const NoTeam = ShownAs(Nullable(Type.String({ maxLength: 50 })), {
  type: ['string', 'null'],
  maxLength: 0,
  description: 'Leave it out: there are no teams',
});

/** Airflow's field for lists whose total is capped. Totals are exact here, or absent. */
export const UncappedTotal = Type.Null({ description: 'A total is never capped: always null' });

export const DateTime = Type.String({ format: 'date-time' });

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ description: 'A stable name of the kind of error: `urn:svc:error:<code>`' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What is wrong with this request and what to do about it' }),
    instance: Type.String({ description: 'The path of the request' }),
  },
  { title: 'Error' },
);

/** An answer in JSON, or in plain text if the `Accept` header asks for it. */
export const JsonOrText = <Schema extends TSchema>(schema: Schema, description: string) => ({
  description,
  content: { 'application/json': { schema }, 'text/plain': { schema: Type.String() } },
});

export const MAX_LIMIT = 1_000;
export const DEFAULT_LIMIT = 100;

export const PagingQuery = {
  limit: Type.Integer({
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'How many entries at most',
  }),
  offset: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: 'How many entries to leave out first',
  }),
};

/** A list answer: one array under its own name, and the total number of matching entries. */
export const Collection = <Name extends string, Item extends TSchema>(title: string, name: Name, item: Item) =>
  Type.Object(
    { [name]: Type.Array(item), total_entries: Type.Integer() } as Record<Name, ReturnType<typeof Type.Array<Item>>> & {
      total_entries: ReturnType<typeof Type.Integer>;
    },
    { title },
  );

export const OrderByQuery = (allowed: readonly string[]) => ({
  order_by: Type.Optional(
    Type.Array(ShownAs(Type.String(), { type: 'string', enum: allowed.flatMap((key) => [key, `-${key}`]) }), {
      maxItems: 10,
      description: `Sort keys, in order; a leading \`-\` sorts downward. One of: ${allowed.join(', ')}`,
    }),
  ),
});
