import type { ShownBundle } from '../../db/bundles/bundles.ts';
import type { DeploymentRow, ListedDeployment } from '../../db/bundles/deployments.ts';

export const bundleBody = (row: ShownBundle) => ({
  name: row.name,
  kind: row.kind,
  url: row.url,
  ref: row.ref,
  folder: row.folder,
  conn_id: row.conn_id,
  on_error: row.on_error,
  adopt: row.adopts,
  poll_seconds: row.poll_seconds,
  commit_url: row.commit_url,
  webhook_conn_id: row.webhook_conn_id,
  created_at: row.created_at,
  created_by: row.created_by,
  current:
    row.current_deployment === null || row.current_version === null || row.deployed_at === null
      ? null
      : {
          deployment: row.current_deployment,
          version: row.current_version,
          author: row.current_author ?? '',
          message: row.current_message ?? '',
          url: row.current_url,
          deployed_at: row.deployed_at,
        },
  sync: {
    state: row.sync_state,
    text: row.sync_text,
    requested: row.asked,
    answered: row.answered,
    checked_at: row.checked_at,
    // A bundle that is not polled has no next time.
    next_check_at: row.next_check_at === 'infinity' ? null : row.next_check_at,
    version: row.problem_version,
    problems: row.problems ?? [],
  },
});

export const listedDeploymentBody = (row: ListedDeployment, current: number | null) => ({
  bundle_name: row.bundle_name,
  deployment: row.number,
  kind: row.kind,
  repeats: row.repeats,
  is_current: row.number === current,
  version: row.version,
  author: row.author,
  message: row.message,
  committed_at: row.committed_at,
  url: row.url,
  changed: row.changed,
  created_by: row.created_by,
  created_at: row.created_at,
});

export const deploymentBody = (row: DeploymentRow, current: number | null) => ({
  ...listedDeploymentBody(row, current),
  changes: row.changes,
  problems: row.problems ?? [],
  dags: Object.fromEntries(Object.entries(row.dags).map(([id, { version, file }]) => [id, { version, file }])),
});
