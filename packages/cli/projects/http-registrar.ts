/** Registers what was compiled with a control plane over its API. */
import type { Registrar } from '@svc/compiler/sync-workspace.ts';
import { MAX_PROVIDERS } from '@svc/spec/installed-providers.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';

/** What the API takes. */
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
    // A control plane reached this way is shared with others: what this machine does not have is not for it to retire.
    active: () => Promise.resolve([]),
    markStale: () => Promise.resolve(),
  };
}

/** 0 for a DAG the control plane does not know. */
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
 * The number a new version will get. Never that of an existing one, even when nothing changed: an image pushed under its
 * tag would leave the running one without a name, and registries remove those.
 */
export const nextVersionOf = async (client: Client, dagId: string): Promise<number> =>
  (await newestVersion(client, dagId)) + 1;
