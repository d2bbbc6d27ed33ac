/**
 * Limits of one call to the control plane. The control plane refuses larger calls before it decodes them, and agents
 * stay below the limits.
 */

/** Credentials in one Heartbeat. Agents with more attempts make more calls. */
export const MAX_HEARTBEAT_TOKENS = 200;

/** A credential names a DAG and a task, each of at most 250 characters. */
export const MAX_TOKEN_LENGTH = 4_096;

/** Bytes of log in one AppendLog. */
export const MAX_LOG_CHUNK_BYTES = 1024 * 1024;
/** Bytes of log in a Finish. */
export const MAX_LOG_TAIL_BYTES = 256 * 1024;

/** Queues that one worker may name. */
export const MAX_JOIN_QUEUES = 50;
