// Names that cross the API, the file system and Kubernetes. Two patterns for DAG ids: projects with a svc.yaml promise the
// narrow one (an id becomes an image name), a plain folder of DAG files takes what Airflow takes.

export const PROJECT_DAG_ID = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,199}$/;
/** Letters and digits of any script, dash, dot, underscore. */
export const AIRFLOW_ID = /^[\p{L}\p{N}\p{M}\p{Pc}.-]{1,250}$/u;
/** Part of a task id, so no dots: the dot separates groups. */
export const GROUP_ID_PART = /^[\p{L}\p{N}\p{M}\p{Pc}-]{1,200}$/u;
export const RUN_ID = /^[A-Za-z0-9_.~:+-]{1,250}$/;

/** What Postgres reads as a uuid, in the one form that we write. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text);

/** A way to somewhere else in every path and URL: what is called so cannot be asked for. */
export const isFolderName = (name: string): boolean => name === '.' || name === '..';

/**
 * Characters that nobody sees: of zero width, or there to turn the direction of the text around them. Two names that differ
 * by one look the same, and a name can look like another.
 */
export const hasInvisible = (name: string): boolean => INVISIBLE.test(name);
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/u;

/** Ids become names of folders and parts of URLs. */
const isId = (id: string, pattern: RegExp): boolean => pattern.test(id) && !isFolderName(id) && !hasInvisible(id);

export const isProjectDagId = (id: string): boolean => PROJECT_DAG_ID.test(id);
export const isDagId = (id: string): boolean => isId(id, AIRFLOW_ID);
export const isTaskId = (id: string): boolean => isId(id, AIRFLOW_ID);
export const isRunId = (id: string): boolean => isId(id, RUN_ID);

/** A full group id is made of parts joined by dots. */
export const isGroupId = (id: string): boolean => id.split('.').every((part) => isId(part, GROUP_ID_PART));

/** Join points that the graph view draws at the edges of a group. */
export const upstreamJoinId = (groupId: string): string => `${groupId}.upstream_join_id`;
export const downstreamJoinId = (groupId: string): string => `${groupId}.downstream_join_id`;
