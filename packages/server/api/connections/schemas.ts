/** Schemas of connections in requests and answers. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { BulkBody } from '../../http/bulk.ts';
import { NoTeam, Nullable, ShownAs } from '../../http/schemas.ts';

const MAX_TEXT_LENGTH = 5_000;
const MAX_EXTRA_LENGTH = 65_536;

/** The schema has no password, so no answer can contain one. */
export const Connection = Type.Object(
  {
    connection_id: Type.String(),
    conn_type: Type.String(),
    description: Nullable(Type.String()),
    host: Nullable(Type.String()),
    login: Nullable(Type.String()),
    schema: Nullable(Type.String()),
    port: Nullable(Type.Integer()),
    extra: Nullable(Type.String({ description: 'JSON; values under sensitive names are `***`' })),
    team_name: Nullable(Type.String({ description: 'Always null: tenants take the place of teams' })),
  },
  { title: 'Connection', description: 'The password is never returned.' },
);

/**
 * Letters and digits of any script, as in Airflow. Slashes and spaces are refused, so an id is always one part of a
 * path.
 */
export const CONNECTION_ID = String.raw`^(?!\.\.?$)[\p{L}\p{N}_.\-]+$`;
const ConnectionId = Type.String({ minLength: 1, maxLength: 200, pattern: CONNECTION_ID });
const ConnType = Type.String({ minLength: 1, maxLength: 500, description: 'postgres, http, aws, …' });

const text = (description: string, maxLength = MAX_TEXT_LENGTH) =>
  Type.Optional(Nullable(Type.String({ maxLength, description })));

const FIELDS = {
  description: text('Empty clears it'),
  host: text('Empty clears it'),
  login: text('Empty clears it'),
  schema: text('Empty clears it'),
  port: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 65_535 }), Type.Null(), Type.Literal('')], {
      description: 'Null or empty clears it',
    }),
  ),
  password: Type.Optional(
    Nullable(
      Type.String({
        maxLength: MAX_TEXT_LENGTH,
        writeOnly: true,
        description: 'Empty clears it; left out, null or `***` it stays as it is',
      }),
    ),
  ),
  extra: text(
    'Usually a JSON object. Empty clears it; `***`, for the whole or for a key in it, means unchanged',
    MAX_EXTRA_LENGTH,
  ),
  // Accepts only null, so that a client can send back what it has read.
  team_name: Type.Optional(NoTeam),
};

const OPTIONS = {
  additionalProperties: false,
  description: 'A field that is left out keeps its stored value; an empty string clears it.',
};

export const ConnectionBody = Type.Object(
  { connection_id: ConnectionId, conn_type: ConnType, ...FIELDS },
  { title: 'ConnectionBody', ...OPTIONS },
);

export const ConnectionUpdate = Type.Object(
  { connection_id: Type.Optional(ConnectionId), conn_type: ConnType, ...FIELDS },
  { title: 'ConnectionUpdate', ...OPTIONS },
);

const NoChoice = Type.Optional(
  ShownAs(Nullable(Type.String({ maxLength: 250 })), {
    type: ['string', 'null'],
    maxLength: 0,
    description: 'Leave it out: workers of this process test',
  }),
);

export const ConnectionTestRequest = Type.Object(
  {
    connection_id: ConnectionId,
    conn_type: ConnType,
    ...FIELDS,
    commit_on_success: Type.Boolean({ default: false, description: 'Save the connection if the test succeeds' }),
    executor: NoChoice,
    queue: NoChoice,
  },
  { title: 'ConnectionTestRequest', ...OPTIONS },
);

const ConnectionName = Type.Object(
  { connection_id: ConnectionId, conn_type: Type.Optional(ConnType), ...FIELDS },
  { title: 'ConnectionName', additionalProperties: false },
);

export const BulkConnectionsBody = BulkBody('Connections', ConnectionBody, ConnectionName);

export const CONNECTION_FIELDS = Object.keys(ConnectionBody.properties);

/** The fields of a connection that a write changes. All except the id may be missing. */
export type ConnectionChange = Partial<Static<typeof ConnectionUpdate>>;
