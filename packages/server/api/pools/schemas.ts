/** Schemas of pools in requests and answers. */
import { Type } from 'typebox';
import { BulkBody } from '../../http/bulk.ts';
import { NO_FOLDER, NoTeam, Nullable } from '../../http/schemas.ts';

const MAX_SLOTS = 2_147_483_647;

const Name = Type.String({ minLength: 1, maxLength: 256, pattern: NO_FOLDER });
const Slots = Type.Integer({ minimum: -1, maximum: MAX_SLOTS, description: '-1: no limit' });
const Description = Nullable(Type.String({ maxLength: 5_000 }));
const used = (description: string) => Type.Integer({ description: `Slots of instances that ${description}` });

export const Pool = Type.Object(
  {
    name: Type.String(),
    slots: Slots,
    description: Nullable(Type.String()),
    include_deferred: Type.Boolean({ description: 'Whether deferred instances keep their slots' }),
    occupied_slots: used('run or are queued, and of deferred ones when they count'),
    running_slots: used('run'),
    queued_slots: used('were handed to a worker and have not started'),
    scheduled_slots: used('wait for a slot or a worker'),
    open_slots: Type.Integer({ description: 'What is left; -1 without a limit. Below 0 when slots were taken away' }),
    deferred_slots: used('are deferred'),
    team_name: Nullable(Type.String({ description: 'Always null: tenants take the place of teams' })),
  },
  { title: 'Pool' },
);

export const PoolBody = Type.Object(
  {
    name: Name,
    slots: Slots,
    description: Type.Optional(Description),
    include_deferred: Type.Optional(Type.Boolean({ description: 'Default: false' })),
    team_name: Type.Optional(NoTeam),
  },
  { title: 'PoolBody', additionalProperties: false },
);

export const PoolUpdate = Type.Object(
  {
    pool: Type.Optional(Nullable(Type.String({ maxLength: 256, description: 'The name, as in the path' }))),
    slots: Type.Optional(Nullable(Slots)),
    description: Type.Optional(Description),
    include_deferred: Type.Optional(Nullable(Type.Boolean())),
    team_name: Type.Optional(NoTeam),
  },
  {
    title: 'PoolUpdate',
    additionalProperties: false,
    description: 'A field that is left out keeps its stored value.',
  },
);

export const BulkPoolsBody = BulkBody('Pools', PoolBody, PoolBody);

export const POOL_FIELDS = Object.keys(PoolUpdate.properties);
export const POOL_BODY_FIELDS = Object.keys(PoolBody.properties);
