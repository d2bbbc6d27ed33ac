/** Schemas of bundles and their deployments. */
import { Type } from 'typebox';
import { Collection, DateTime, Nullable } from '../../http/schemas.ts';

const BundleName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
  description: 'Letters, digits, dots, dashes and underscores; begins with a letter or a digit',
});
const Kind = Type.Enum(['git', 'folder'], { description: '`folder`: a folder on the host of the control plane' });
const OnError = Type.Enum(['refuse', 'partial'], {
  description:
    '`refuse`: a commit with a broken file changes nothing. `partial`: the rest of it is deployed, as Airflow does',
});
const Ref = Type.String({
  maxLength: 200,
  pattern: '^(?![-./])(?!.*(\\.\\.|//|@\\{|\\.lock$|[./]$))[A-Za-z0-9_./@+#=-]*$',
  description: 'A branch or tag; empty: the default branch',
});
const Folder = Type.String({
  maxLength: 500,
  pattern: '^(?!/)(?!(.*/)?\\.\\.?(/|$))(?!.*//)(?!.*/$)[^\\u0000-\\u001f\\u007f:\\\\]*$',
  description: 'The DAGs are below this folder of the source; empty: in the source itself',
});
const CommitUrl = Nullable(
  Type.String({
    maxLength: 1_000,
    pattern: '^https?://[^\\s]*\\{commit\\}[^\\s]*$',
    description: 'Link to a commit, with `{commit}`; null: GitHub, GitLab, Bitbucket, Codeberg and Gitea are known',
  }),
);
const PollSeconds = Type.Integer({
  minimum: 0,
  maximum: 86_400,
  description: 'How often the source is looked at; 0: only when a sync is asked for',
});
const SETTINGS = {
  url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description:
      '`https://…`, `ssh://…` or `user@host:path`, without a password; a path on the host needs `bundles.allowed_paths`',
  }),
  ref: Ref,
  folder: Folder,
  conn_id: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 250,
      description: 'The connection that opens the source: its password is a token, `private_key` in its extra a key',
    }),
  ),
  on_error: OnError,
  adopt: Type.Boolean({ description: 'Takes over DAGs that `svc deploy` has registered' }),
  poll_seconds: PollSeconds,
  commit_url: CommitUrl,
  webhook_conn_id: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 250,
      description: 'The connection with the secret of webhooks as its password; null: the bundle takes none',
    }),
  ),
};

export const NewBundleBody = Type.Object(
  { name: BundleName, kind: Kind, ...Type.Partial(Type.Object(SETTINGS)).properties, url: SETTINGS.url },
  { title: 'BundleBody', additionalProperties: false },
);

export const BundleUpdate = Type.Partial(Type.Object(SETTINGS), {
  title: 'BundleUpdate',
  additionalProperties: false,
});

const Problem = Type.Object(
  {
    file: Type.String({ description: 'Empty: of the whole commit' }),
    line: Nullable(Type.Integer()),
    message: Type.String(),
  },
  { title: 'BundleProblem' },
);

export const Bundle = Type.Object(
  {
    name: Type.String(),
    kind: Kind,
    url: Type.String(),
    ref: Type.String(),
    folder: Type.String(),
    conn_id: Nullable(Type.String()),
    on_error: OnError,
    adopt: Type.Boolean(),
    poll_seconds: Type.Integer(),
    commit_url: Nullable(Type.String()),
    webhook_conn_id: Nullable(Type.String()),
    created_at: DateTime,
    created_by: Type.String(),
    current: Nullable(
      Type.Object(
        {
          deployment: Type.Integer(),
          version: Type.String({ description: 'The commit' }),
          author: Type.String(),
          message: Type.String(),
          url: Nullable(Type.String()),
          deployed_at: DateTime,
        },
        { title: 'CurrentDeployment' },
      ),
    ),
    sync: Type.Object(
      {
        state: Type.Enum(['waiting', 'running', 'done', 'refused', 'failed'], {
          description: 'Of the last sync. `refused`: the commit is broken; `failed`: the source could not be read',
        }),
        text: Type.String({ description: 'What it is doing, or how it ended' }),
        requested: Type.Integer({ description: 'How many syncs were asked for' }),
        answered: Type.Integer({ description: 'The last request that a sync has answered' }),
        checked_at: Nullable(DateTime),
        next_check_at: Nullable(DateTime),
        version: Nullable(Type.String({ description: 'The commit with the problems' })),
        problems: Type.Array(Problem, { maxItems: 100 }),
      },
      { title: 'BundleSync' },
    ),
  },
  { title: 'Bundle' },
);
export const BundleCollection = Collection('BundleCollection', 'bundles', Bundle);

const Change = Type.Object(
  {
    change: Type.Enum(['added', 'changed', 'removed']),
    before: Nullable(Type.Integer({ description: 'The version of the DAG before' })),
    after: Nullable(Type.Integer()),
  },
  { title: 'DagChange' },
);

const LISTED = {
  bundle_name: Type.String(),
  deployment: Type.Integer({ description: 'Its number within the bundle' }),
  kind: Type.Enum(['sync', 'rollback', 'dag_rollback'], {
    description: '`dag_rollback`: one DAG went back to an older version',
  }),
  repeats: Nullable(
    Type.Integer({
      description: 'Of a rollback: the deployment whose content is current again; of one DAG: the one it changed',
    }),
  ),
  is_current: Type.Boolean(),
  version: Type.String({ description: 'The commit; of a folder, the hash of its files' }),
  author: Type.String(),
  message: Type.String(),
  committed_at: Nullable(DateTime),
  url: Nullable(Type.String({ description: 'Link to the commit' })),
  changed: Type.Integer({ description: 'How many DAGs it added, changed or removed' }),
  created_by: Type.String(),
  created_at: DateTime,
};
export const ListedDeployment = Type.Object(LISTED, { title: 'ListedDeployment' });
export const DeploymentCollection = Collection('DeploymentCollection', 'deployments', ListedDeployment);
export const Deployment = Type.Object(
  {
    ...LISTED,
    changes: Type.Record(Type.String(), Change, { description: 'By DAG id' }),
    problems: Type.Array(Problem, { maxItems: 100, description: 'With `on_error: partial`: what was left out' }),
    dags: Type.Record(
      Type.String(),
      Type.Object({ version: Type.Integer(), file: Type.String() }, { title: 'DeployedDag' }),
      { description: 'By DAG id: the version of the DAG, and its file in the bundle' },
    ),
  },
  { title: 'Deployment' },
);

export const RollbackBody = Type.Object(
  {
    to: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'The deployment to go back to; default: the one before the current one',
      }),
    ),
  },
  { title: 'RollbackBody', additionalProperties: false },
);

export const DagRollbackBody = Type.Object(
  {
    to: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'The version to go back to; default: the newest one before the current content',
      }),
    ),
  },
  { title: 'DagRollbackBody', additionalProperties: false },
);

export const DagRollback = Type.Object(
  {
    dag_id: Type.String(),
    version: Type.Integer({ description: 'The new current version, with the content of the older one' }),
    repeats: Type.Integer({ description: 'The version whose content it has' }),
    from: Type.Integer({ description: 'The version that was current before' }),
    bundle_name: Nullable(Type.String({ description: 'The bundle that has the DAG, if it is managed' })),
    deployment: Nullable(Type.Integer({ description: 'The deployment of that bundle' })),
  },
  { title: 'DagRollback' },
);

export const BundleParams = Type.Object({ bundle: Type.String() });
