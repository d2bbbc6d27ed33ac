/** Building blocks every resource's schemas use. */
import { Type } from 'typebox';
import type { TSchema } from 'typebox';

/** `type: [x, "null"]` where it can be said so: shorter in the document and faster to serialise than a union. */
export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** Of names that stand in a path: these two mean folders there, and no encoding keeps a URL parser from resolving them. */
export const NO_FOLDER = String.raw`^(?!\.\.?$)`;

/**
 * A schema that the document shows in a narrower form than the validator checks: the rest is refused by the handler, in better
 * words than a validator has.
 */
export const ShownAs = <Schema extends TSchema>(schema: Schema, shown: object): Schema => ({
  ...schema,
  [SHOWN_AS]: shown,
});
export const SHOWN_AS = 'x-shown-as';

/** Airflow's field for it may come back as it was read, which is null, or as forms send it, which is empty. */
export const NoTeam = ShownAs(Nullable(Type.String({ maxLength: 50 })), {
  type: ['string', 'null'],
  maxLength: 0,
  description: 'Leave it out: there are no teams',
});

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

/** An answer that comes as JSON, or as plain text to whoever asks for that in `Accept`. */
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

/** A list answer: one array under its own name, and how many entries match in all. */
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
