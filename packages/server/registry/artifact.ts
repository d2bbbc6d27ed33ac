/**
 * The artifact that is registered: a compiled spec and its origin. One type serves as the body of the API and as the
 * input of the registry.
 */
import { MAX_PROVIDERS } from '@svc/spec/installed-providers.ts';
import { Type } from 'typebox';
import type { Static } from 'typebox';

const Provider = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    summary: Type.String(),
    documentation_url: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { additionalProperties: true, description: 'Also `connection_types`, as the metadata of the package has them' },
);

export const Artifact = Type.Object(
  {
    spec: Type.Object({}, { additionalProperties: true, description: 'The compiled spec; see docs/compiled-spec.md' }),
    fileloc: Type.Optional(Type.String({ maxLength: 4_096, description: 'Where the author keeps the file' })),
    bundle_name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 250,
        description: 'The project or folder the DAG comes from; default: `dags`',
      }),
    ),
    bundle_version: Type.Optional(Type.String({ maxLength: 250, description: 'For example a commit' })),
    bundle_url: Type.Optional(Type.String({ maxLength: 2_048 })),
    image: Type.Optional(Type.String({ maxLength: 1_024, description: 'The image tasks run in, pinned by digest' })),
    warnings: Type.Optional(
      Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 100, description: 'What the compiler warned of' }),
    ),
    differences: Type.Optional(
      Type.Array(Type.String({ maxLength: 4_096 }), {
        maxItems: 100,
        description: 'What works differently than on Airflow: warnings of the kind `airflow difference`',
      }),
    ),
    providers: Type.Optional(
      Type.Array(Provider, {
        maxItems: MAX_PROVIDERS,
        description:
          'Provider packages of the environment it was compiled in, as their metadata describes them. What workers report counts more',
      }),
    ),
    values_read: Type.Optional(
      Type.Array(
        Type.Object(
          {
            kind: Type.Union([Type.Literal('variable'), Type.Literal('connection')]),
            name: Type.String({ minLength: 1, maxLength: 250 }),
            fingerprint: Type.String({ minLength: 1, maxLength: 64, description: 'As the control plane gave it' }),
          },
          { additionalProperties: false },
        ),
        { maxItems: 10_000, description: 'Variables and connections that the file read while it was compiled' },
      ),
    ),
    parse_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400 })),
  },
  { title: 'DagArtifact', additionalProperties: false },
);

export type Artifact = Static<typeof Artifact>;
