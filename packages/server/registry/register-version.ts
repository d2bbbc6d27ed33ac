/**
 * Turns a compiled artifact into an immutable, numbered version.
 *
 * Registrations of one DAG run one after the other, so numbers have no gaps. Content that equals the current version
 * creates no new version, so deploying again is nearly free. Content that was current before and comes back creates a
 * new version, because the order of versions is the history of what ran.
 */
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Actor } from '../db/identity/audit-log.ts';
import { findManagedBundle } from '../db/bundles/bundle-names.ts';
import { confirmVersion } from '../db/dags/dag-versions.ts';
import type { DagVersionRow } from '../db/dags/dag-versions.ts';
import type { TenantDb } from '../db/database.ts';
import type { Artifact } from './artifact.ts';
import { prepareVersion } from './prepare-version.ts';
import type { ArtifactPolicy } from './prepare-version.ts';
import { placeOf, pluginsOf, valuesReadOf, writeVersion } from './write-version.ts';

export type Registration =
  | { kind: 'created' | 'unchanged'; version: DagVersionRow }
  | { kind: 'refused'; problems: string[] };

export async function registerVersion(
  db: TenantDb,
  input: ArtifactPolicy & {
    dagId: string;
    artifact: Artifact;
    actor: Actor;
    /**
     * True if its tasks run in the environment that compiled it. What the compiler found there is then newer than what
     * a worker reported.
     */
    isTaskEnvironment?: boolean;
    /** The current time, for tests of schedules. */
    now?: Date;
  },
): Promise<Registration> {
  const { dagId, artifact, actor, isTaskEnvironment = false, now = new Date() } = input;
  const checked = await prepareVersion(dagId, artifact, input);
  if ('problems' in checked) return { kind: 'refused', problems: checked.problems };
  const { prepared } = checked;
  const { spec, contentHash, isTimetableOwn, providers } = prepared;
  const place = placeOf(spec, artifact);
  if (!isTimetableOwn && !artifact.warnings?.length && !artifact.differences?.length) {
    const version = await confirmVersion(db, {
      dagId,
      contentHash,
      plugins: pluginsOf(spec),
      valuesRead: valuesReadOf(artifact),
      providers,
      isTaskEnvironment,
      ...place,
    });
    if (version) return { kind: 'unchanged', version };
  }
  return db.transaction().execute(async (trx): Promise<Registration> => {
    const owner = await findManagedBundle(trx, { dagId, bundleName: place.bundleName });
    if (owner !== undefined) return { kind: 'refused', problems: [refusalFor(owner, { dagId, ...place })] };
    const { version, isNew } = await writeVersion(trx, prepared, { isTaskEnvironment, now });
    if (isNew) {
      await recordAudit(trx, actor, {
        event: 'post_dag_version',
        objectKind: 'dag',
        objectId: dagId,
        dagId,
        detail: { version_number: version.version_number },
      });
    }
    return { kind: isNew ? 'created' : 'unchanged', version };
  });
}

const refusalFor = (owner: string, { dagId, bundleName }: { dagId: string; bundleName: string }): string =>
  owner === bundleName
    ? `the bundle "${owner}" is deployed from its source: change the DAG ${dagId} there, or remove the bundle first`
    : `the DAG id "${dagId}" belongs to the bundle "${owner}": give the DAG another dag_id, or remove it from that bundle first`;
