// Building blocks that several sections of the compiled-spec schema share.

import { Type, type Static } from 'typebox';

export const closed = { additionalProperties: false } as const;

export const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** One word of a closed list. The type is a parameter, because a mapped array loses the types of its members. */
export const Words = <T extends string>(words: readonly T[], description: string) =>
  Type.Unsafe<T>(Type.Enum([...words], { description }));

export const Text = (description: string) => Type.String({ description });
export const Flag = (description: string) => Type.Boolean({ description });
/** The column is a four-byte integer. */
const MAX_COUNT = 2_147_483_647;
export const Count = (description: string, minimum = 0) => Type.Integer({ minimum, maximum: MAX_COUNT, description });
export const Ids = (description: string) => Type.Array(Type.String(), { description });
export const Seconds = (description: string) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.Null()], { description: `${description} (seconds)` });

/** A Python value: plain JSON, or an object tagged with `__type`. The generated page lists the tags. */
export const PythonValue = (description: string) => Type.Unknown({ description });
export const PythonValues = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

export const ParamSpec = Type.Object(
  {
    name: Text('name of the param'),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of its value' }),
    description: Nullable(Type.String(), 'text beside the field of the trigger form'),
    source: Type.Union([Type.Literal('dag'), Type.Literal('task')], { description: 'where it was declared' }),
    has_default: Flag('false: a run must be given a value'),
    default: Type.Optional(Type.Unknown({ description: 'absent when there is none' })),
  },
  closed,
);
export type ParamSpec = Static<typeof ParamSpec>;

/** The items over which a mapped task or group is expanded. */
export const MappingSpec = Type.Union(
  [
    Type.Object(
      {
        kind: Type.Literal('expand'),
        target: Type.Union([Type.Literal('function'), Type.Literal('operator')], {
          description: 'whose arguments are mapped: those of the decorated function or of the operator',
        }),
        arguments: Type.Array(
          Type.Object(
            {
              name: Text('argument'),
              value: PythonValue('a list, a mapping as pairs, or a reference'),
              length: Nullable(
                Type.Integer({ minimum: 0 }),
                'number of items; null until the referenced tasks have run',
              ),
            },
            closed,
          ),
          { description: 'in the order written: the last argument varies fastest in the map index' },
        ),
        depends_on: Ids('tasks whose values are expanded over'),
      },
      closed,
    ),
    Type.Object(
      {
        kind: Type.Literal('expand_kwargs'),
        target: Type.Union([Type.Literal('function'), Type.Literal('operator')]),
        value: PythonValue('a list of argument sets, or a reference to one'),
        length: Nullable(Type.Integer({ minimum: 0 }), 'number of items; null until the referenced tasks have run'),
        depends_on: Ids('tasks whose values are expanded over'),
      },
      closed,
    ),
  ],
  { description: 'what the task or group is repeated over' },
);
export type MappingSpec = Static<typeof MappingSpec>;

/** References to functions, notifiers and other callables. Their code stays in the source file. */
export const Callables = (description: string) => Type.Array(Type.Unknown(), { description });
