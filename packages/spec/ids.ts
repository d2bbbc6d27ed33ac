// Names that cross the API, the file system and Kubernetes. There are two patterns for DAG ids. Projects with a
// svc.yaml use the narrow one, because an id becomes part of an image name. A plain folder of DAG files accepts what
// Airflow accepts.

export const PROJECT_DAG_ID = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,199}$/;
/** Letters and digits of any script, dashes, dots, underscores. */
export const AIRFLOW_ID = /^[\p{L}\p{N}\p{M}\p{Pc}.-]{1,250}$/u;
/** A part of a task id. It has no dot, because the dot separates groups. */
export const GROUP_ID_PART = /^[\p{L}\p{N}\p{M}\p{Pc}-]{1,200}$/u;
export const RUN_ID = /^[A-Za-z0-9_.~:+-]{1,250}$/;

/** A uuid in the one form that we write. Postgres reads more forms. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text);

/**
 * True for `.` and `..`. They change the folder in every path and URL, so an id with such a name could not be
 * requested.
 */
export const isFolderName = (name: string): boolean => name === '.' || name === '..';

/**
 * True if the name contains invisible characters: characters of zero width, or characters that change the direction of
 * text. Two names that differ only in these look the same.
 */
export const hasInvisible = (name: string): boolean => INVISIBLE.test(name);
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/u;

/** Ids become names of folders and parts of URLs, so some names that match a pattern are still refused. */
const isId = (id: string, pattern: RegExp): boolean => pattern.test(id) && !isFolderName(id) && !hasInvisible(id);

export const isProjectDagId = (id: string): boolean => PROJECT_DAG_ID.test(id);
export const isDagId = (id: string): boolean => isId(id, AIRFLOW_ID);
export const isTaskId = (id: string): boolean => isId(id, AIRFLOW_ID);
export const isRunId = (id: string): boolean => isId(id, RUN_ID);

/** A full group id consists of parts joined by dots. */
export const isGroupId = (id: string): boolean => id.split('.').every((part) => isId(part, GROUP_ID_PART));

/** The ids of the join points that the graph view draws at the edges of a group. */
export const upstreamJoinId = (groupId: string): string => `${groupId}.upstream_join_id`;
export const downstreamJoinId = (groupId: string): string => `${groupId}.downstream_join_id`;
