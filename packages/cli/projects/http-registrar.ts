/** Registers compiled DAGs through the API of a control plane. */
import type { Registrar } from '@svc/compiler/sync-workspace.ts';
import { MAX_PROVIDERS } from '@svc/spec/installed-providers.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';

/** Limits of the API. */
const MOST_WARNINGS = 100;
const LONGEST_WARNING = 4_096;
const LONGEST_STACK_TRACE = 262_144;

export function createHttpRegistrar(client: Client): Registrar {
  return {
    async register(dagId, artifact) {
      const before = await newestVersion(client, dagId);
      const { version_number: versionNumber } = await client.post('/api/v2/dags/{dag_id}/dagVersions', {
        path: { dag_id: dagId },
        body: {
          spec: artifact.spec,
          fileloc: artifact.fileloc,
          bundle_name: artifact.bundleName,
          bundle_version: artifact.bundleVersion,
          bundle_url: artifact.bundleUrl,
          image: artifact.image,
          warnings: artifact.warnings.slice(0, MOST_WARNINGS).map((text) => text.slice(0, LONGEST_WARNING)),
          differences: artifact.differences.slice(0, MOST_WARNINGS).map((text) => text.slice(0, LONGEST_WARNING)),
          parse_seconds: artifact.parseSeconds,
          ...(artifact.reads && artifact.reads.length > 0 && { values_read: artifact.reads }),
          ...(artifact.providers && { providers: artifact.providers.slice(0, MAX_PROVIDERS) }),
        },
      });
      return { versionNumber, isNew: versionNumber !== before };
    },
    async reportError({ bundleName, filename, stackTrace }) {
      const text = stackTrace.slice(0, LONGEST_STACK_TRACE);
      await client.post('/api/v2/importErrors', {
        body: { bundle_name: bundleName, filename, stack_trace: text },
      });
    },
    async clearError({ bundleName, filename }) {
      const errors = await client.list('/api/v2/importErrors', 'import_errors');
      const found = errors.filter((error) => error.bundle_name === bundleName && error.filename === filename);
      for (const { import_error_id: id } of found) {
        await client.delete('/api/v2/importErrors/{import_error_id}', { path: { import_error_id: id } });
      }
    },
    // Other machines may share this control plane, so DAGs that are missing here are not retired.
    active: () => Promise.resolve([]),
    markStale: () => Promise.resolve(),
  };
}

/** Returns 0 for a DAG that the control plane does not know. */
async function newestVersion(client: Client, dagId: string): Promise<number> {
  try {
    const { dag_versions: versions } = await client.get('/api/v2/dags/{dag_id}/dagVersions', {
      path: { dag_id: dagId },
      query: { limit: 1 },
    });
    return versions[0]?.version_number ?? 0;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return 0;
    throw error;
  }
}

/**
 * Returns the number of the next version. It is never an existing number, even if nothing changed. An image pushed with
 * an existing tag would leave the running image without a name, and registries remove such images.
 */
export const nextVersionOf = async (client: Client, dagId: string): Promise<number> =>
  (await newestVersion(client, dagId)) + 1;
