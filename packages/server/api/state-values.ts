/** What the state stores of task instances and assets have in common: schemas, limits, and masked answers. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { Permission } from '../auth/permissions.ts';
import { ApiError } from '../http/errors.ts';
import { maskFor } from '../http/masked-fields.ts';
import { DateTime, NO_FOLDER, Nullable, PagingQuery } from '../http/schemas.ts';
import type { ReaderMask } from '../vault/reader-masks.ts';
import { MAX_KEY_LENGTH, tooManyKeys, valueTooLarge } from '../xcom/state-limits.ts';
import type { StateStoreLimits } from '../xcom/state-limits.ts';
import type { Services } from './services.ts';
import { valueText } from './xcoms/bodies.ts';

export const StateKey = Type.String({ minLength: 1, maxLength: MAX_KEY_LENGTH, pattern: NO_FOLDER });
export const StatePaging = PagingQuery;

const CLOSED = { additionalProperties: false };
const Value = Type.Unknown({ description: 'Any JSON value without the keys Airflow encodes other types with' });

const ENTRY = { key: Type.String(), value: Type.Unknown({ description: 'Any JSON value' }), updated_at: DateTime };

export const TaskStateEntry = Type.Object(
  { ...ENTRY, expires_at: Nullable(DateTime) },
  { title: 'TaskStateStoreResponse' },
);

export const AssetStateEntry = Type.Object(
  {
    ...ENTRY,
    last_updated_by: Nullable(
      Type.Object(
        {
          kind: Type.Enum(['task', 'watcher', 'api']),
          dag_id: Nullable(Type.String()),
          run_id: Nullable(Type.String()),
          task_id: Nullable(Type.String()),
          map_index: Nullable(Type.Integer()),
        },
        { title: 'AssetStateStoreLastUpdatedBy' },
      ),
    ),
  },
  { title: 'AssetStateStoreResponse' },
);

export const TaskStateBody = Type.Object(
  {
    value: Value,
    expires_at: Type.Optional(
      Type.Union([DateTime, Type.Literal('default'), Type.Null()], {
        description: '`default` (without it, too): after `state_store.default_retention`. Null: never',
      }),
    ),
  },
  { title: 'TaskStateStoreBody', ...CLOSED },
);
export type TaskStateBody = Static<typeof TaskStateBody>;

export const ValueBody = (title: string) => Type.Object({ value: Value }, { title, ...CLOSED });

/** Returns the JSON text to store. */
export function storedText(key: string, value: unknown, limits: StateStoreLimits): string {
  const text = valueText(value);
  const problem = valueTooLarge(key, text, limits);
  if (problem !== undefined) throw new ApiError('invalid_request', problem);
  return text;
}

export const storeIsFull = (limits: StateStoreLimits, owner: string): ApiError =>
  new ApiError('conflict', tooManyKeys(limits, owner));

export const noSuchState = (key: string): ApiError =>
  new ApiError('not_found', `the state store has no key \`${key.slice(0, 250)}\``);

type Entry = { key: string; value: string; fields: object };

/** Builds the answer as text, so that stored values are inserted unchanged, with their digits and order of keys. */
async function entryText({ key, value, fields }: Entry, mask: ReaderMask | undefined): Promise<string> {
  const shown = mask ? await mask(value, key) : value;
  return `${JSON.stringify({ key, ...fields }).slice(0, -1)},"value":${shown}}`;
}

/** A caller without the permission to write sees masked values. */
export async function oneStateText(
  request: FastifyRequest,
  { readerMasks }: Pick<Services, 'readerMasks'>,
  { entry, writer }: { entry: Entry; writer: Permission },
): Promise<string> {
  return entryText(entry, await maskFor(request, readerMasks, writer));
}

export async function stateListText(
  request: FastifyRequest,
  { readerMasks }: Pick<Services, 'readerMasks'>,
  list: { name: string; entries: readonly Entry[]; total: number; writer: Permission },
): Promise<string> {
  const mask = await maskFor(request, readerMasks, list.writer);
  const texts: string[] = [];
  for (const entry of list.entries) texts.push(await entryText(entry, mask));
  return `{${JSON.stringify(list.name)}:[${texts.join(',')}],"total_entries":${list.total}}`;
}
