/** Schemas of variables in requests and answers. */
import { Type } from 'typebox';
import { BulkBody } from '../../http/bulk.ts';
import { NO_FOLDER, NoTeam, Nullable } from '../../http/schemas.ts';

export const MAX_VALUE_LENGTH = 262_144;

export const Variable = Type.Object(
  {
    key: Type.String(),
    value: Type.String({ description: '`***` when the key looks sensitive; inside JSON, under each such name' }),
    description: Nullable(Type.String()),
    is_encrypted: Type.Boolean({ description: 'Whether the value is encrypted where it is stored' }),
    team_name: Nullable(Type.String({ description: 'Always null: tenants take the place of teams' })),
  },
  { title: 'Variable' },
);

/** Any text, slashes included. A path may contain them plainly or as %2F. */
const Key = Type.String({ minLength: 1, maxLength: 250, pattern: NO_FOLDER });

const FIELDS = {
  value: Type.Optional(
    Type.Unknown({
      description:
        'A string; anything else is stored as JSON. Left out or null it stays as it is, as does a masked `***`; empty clears it',
    }),
  ),
  description: Type.Optional(Nullable(Type.String({ maxLength: 5_000, description: 'Empty clears it' }))),
  // Both are accepted only so that a client can send back what it has read.
  is_encrypted: Type.Optional(Type.Boolean({ description: 'Ignored: it follows from the configuration' })),
  team_name: Type.Optional(NoTeam),
};

const OPTIONS = {
  additionalProperties: false,
  description: 'A field that is left out keeps its stored value; an empty string clears it.',
};

export const VariableBody = Type.Object({ key: Key, ...FIELDS }, { title: 'VariableBody', ...OPTIONS });

export const VariableUpdate = Type.Object(
  { key: Type.Optional(Key), ...FIELDS },
  { title: 'VariableUpdate', ...OPTIONS },
);

export const BulkVariablesBody = BulkBody('Variables', VariableBody, VariableBody);

export const VARIABLE_FIELDS = Object.keys(VariableBody.properties);
