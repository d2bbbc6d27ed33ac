/**
 * What one call to the control plane may carry. The control plane refuses more than this before it decodes it; agents keep
 * below it by themselves.
 */

/** Credentials in one Heartbeat: agents with more attempts make more calls. */
export const MAX_HEARTBEAT_TOKENS = 200;

/** A credential names a DAG and a task, each of at most 250 characters. */
export const MAX_TOKEN_LENGTH = 4_096;

/** Bytes of log in one AppendLog. */
export const MAX_LOG_CHUNK_BYTES = 1024 * 1024;
/** Bytes of log that go with a Finish. */
export const MAX_LOG_TAIL_BYTES = 256 * 1024;

/** Queues that one worker may name. */
export const MAX_JOIN_QUEUES = 50;
