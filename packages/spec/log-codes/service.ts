/** Codes of the start, the configuration, the database, storage and the HTTP API. */
import type { LogMessage } from './message.ts';

export const SERVICE_CODES = {
  SVC1001: {
    text: 'a part did not stop in time',
    cause: 'A part of the process still waited for something when its time to stop was over.',
    remedy: 'Nothing is lost. If it repeats, see whether the database or the object store answers slowly.',
  },
  SVC1002: {
    text: 'a part did not stop cleanly',
    cause: 'A part of the process failed while it stopped; `err` says how.',
    remedy: 'Nothing is lost. Report it with the stack if it repeats.',
  },
  SVC1003: {
    text: 'waiting for the database',
    varies: true,
    cause: 'The process cannot start before Postgres answers, its schema is current and a tenant exists.',
    remedy: 'Start Postgres, or a process that migrates the schema; the message says what is missing.',
  },
  SVC1004: {
    text: 'no user can log in yet',
    varies: true,
    cause: 'The database has no user, and neither a first user nor single sign-on is configured.',
    remedy: 'Run the command that the message names, or set `auth.bootstrap.email` and `auth.bootstrap.password`.',
  },
  SVC1005: {
    text: 'a warning about the configuration',
    varies: true,
    cause: 'The configuration is valid and has a consequence that may not be wanted.',
    remedy: 'Change the key that the message names. `svc config --check` shows the same warnings.',
  },
  SVC1006: {
    text: 'server.trusted_proxies: …',
    varies: true,
    cause: '`server.trusted_proxies` has an entry that is no address, so no proxy is trusted.',
    remedy: 'Correct the entry that the message names. Until then X-Forwarded-For has no effect.',
  },
  SVC1007: {
    text: 'cannot get ready',
    cause: 'The database could not be prepared; `err` says why.',
    remedy: 'Correct the cause and restart the process. It answers 503 until then.',
  },
  SVC1008: {
    text: 'lost a database connection',
    cause: 'Postgres or the network closed a connection, for example at a restart or a failover.',
    remedy: 'svc connects again. If it repeats, look at the log of Postgres and at idle limits of proxies between.',
  },
  SVC1009: {
    text: '…: the new certificate cannot be used; the old one stays',
    cause: 'The certificate files have changed and do not load, or certificate and key do not match.',
    remedy: 'Replace both files with a matching pair; `reason` says what is wrong. They are read again by themselves.',
  },
  SVC1010: {
    text: 'the certificate expires soon, or has expired',
    varies: true,
    cause: 'The certificate of the section that the message names is near its end or past it.',
    remedy: 'Renew the certificate. The new files are used without a restart.',
  },
  SVC1011: {
    text: 'the directory of task logs is not that of the other processes',
    varies: true,
    cause: '`logs.dir` of this process does not have the marker of the installation.',
    remedy: 'Give all processes the same directory, or use an object store (`logs.backend`).',
  },
  SVC1012: {
    text: 'the directory of task logs cannot be written: tasks will have no logs',
    cause: 'The user of the process may not write `logs.dir`, or its disk is full.',
    remedy: 'Correct the permissions or free space, and restart the process.',
  },
  SVC1013: {
    text: 'not ready: …',
    cause: 'The readiness probe fails; the message says why.',
    remedy: 'Correct the cause that the message names. The log says "ready again" afterwards.',
  },
  SVC1020: {
    text: '…: "…" is not host:port, for example localhost:4317; no traces are exported',
    cause: '`observability.otel.endpoint` is not an address.',
    remedy: 'Set it to `host:port` of an OTLP collector, or leave it empty.',
  },
  SVC1021: {
    text: 'the trace exporter cannot be loaded; no traces are exported',
    cause: 'A package of the installation is missing or damaged; `err` names it.',
    remedy: 'Install svc again.',
  },
  SVC1022: {
    text: 'exporting traces failed; spans are dropped until the collector accepts them (check …)',
    cause: 'The collector does not answer or refuses spans; `reason` has its answer.',
    remedy: 'Start the collector, or correct `observability.otel.endpoint`.',
  },
  SVC1023: {
    text: 'metrics could not be sent to metrics.statsd_host …',
    cause: 'The StatsD server cannot be reached; `err` says why.',
    remedy: 'Correct `metrics.statsd_host` and `metrics.statsd_port`. It is logged once for each outage.',
  },
  SVC1030: {
    text: 'Redis is away: …',
    cause: 'Redis cannot be reached; `reason` says why.',
    remedy: 'Start Redis, or correct `redis.url`. Nothing is lost; Postgres answers more slowly.',
  },
  SVC1031: {
    text: 'Redis refuses commands',
    varies: true,
    cause: 'The user of `redis.url` lacks a permission, or Redis is full or read-only.',
    remedy: 'Give the user the permissions that the message lists, or free memory of Redis.',
  },
  SVC5001: {
    text: 'old task logs could not be removed; tried again later',
    cause: 'The store of task logs or the database did not answer; `err` says why.',
    remedy: 'If it repeats, correct the permissions of the store. Old logs take space until then.',
  },
  SVC5002: {
    text: 'a task log could not be moved to the object store; tried again later',
    cause: 'The object store refused one log; `err` has its answer.',
    remedy: 'Check the permissions for the prefix of logs. The log stays readable.',
  },
  SVC5003: {
    text: 'task logs could not be moved to the object store; tried again later',
    cause: 'The upload of a set of logs failed for a reason that is no outage; `err` says why.',
    remedy: 'Report it with the stack if it repeats. The logs stay readable.',
  },
  SVC5004: {
    text: 'task logs wait for the database',
    cause: 'The database does not answer, so nothing says which logs to move.',
    remedy: 'Restore the database. Moves continue without help.',
  },
  SVC5005: {
    text: 'the object store of task logs is away; acknowledged lines are kept in the database until it is back',
    cause: 'The object store cannot be reached; `reason` says why.',
    remedy: 'Restore the store or its credentials before `logs.spool_bytes` is used up.',
  },
  SVC5006: {
    text: 'a warning about the store of task logs',
    varies: true,
    cause: 'The check of the store at the start found something that works with a limit.',
    remedy: 'Do what the message says.',
  },
  SVC5007: {
    text: 'the store of task logs cannot be used',
    varies: true,
    cause: 'The check of the store at the start failed after the process had begun to serve.',
    remedy: 'Correct the key or the permission that the message names, and restart the process.',
  },
  SVC5008: {
    text: 'the store of task logs could not be checked',
    cause: 'The check of the store failed in an unexpected way; `err` has the stack.',
    remedy: 'Check the keys under `logs`, and report it if they are right.',
  },
  SVC5009: {
    text: 'the database keeps as many lines for the object store as logs.spool_bytes allows: no more are taken, agents keep theirs',
    cause: 'The object store has been away so long that the space for waiting lines is full.',
    remedy: 'Restore the object store, or raise `logs.spool_bytes`. Agents send their lines afterwards.',
  },
  SVC5010: {
    text: 'unused large values of tasks could not be removed; tried again later',
    cause: 'The store of values or the database did not answer; `err` says why.',
    remedy: 'If it repeats, correct the permissions of the store. Unused values take space until then.',
  },
  SVC5011: {
    text: 'task logs cannot be read',
    cause: 'A reader asked for a log and the store failed; `err` says how.',
    remedy: 'Restore the store. A log that is missing in it cannot be recovered.',
  },
  SVC5012: {
    text: 'task logs of what was deleted could not be removed',
    cause: 'A run or a DAG was deleted, and the store did not delete its logs.',
    remedy: 'Delete them by hand under the folder that the fields name; nothing shows them any more.',
  },
  SVC5013: {
    text: 'a stored secret cannot be read and is shown as ***',
    cause: 'No configured key opens the secret, because a key was removed or the row was changed.',
    remedy: 'Add the old key to the configured keys, or store the secret again.',
  },
  SVC6001: {
    text: 'permission denied',
    cause: 'A user called an endpoint without the permission that the field names.',
    remedy: 'None is needed. Give the user a role with the permission if the call is legitimate.',
  },
  SVC6002: {
    text: 'request failed',
    cause: 'An error that svc does not know happened while a request was answered; `err` has the stack.',
    remedy: 'Report it with the stack. The caller got a 500 without details.',
  },
  SVC6003: {
    text: 'a request could not be answered for now',
    varies: true,
    cause: 'A known outage, such as that of the database; the message is the code of the answer.',
    remedy: 'Correct the outage. Clients may repeat the request.',
  },
  SVC6004: {
    text: 'requests were turned away: more were waiting than server.max_requests_waiting allows',
    cause: 'More requests arrive than this process can answer.',
    remedy: 'Find the client that sends them, or start more API processes.',
  },
  SVC6005: {
    text: 'the metadata of the identity provider could not be read',
    cause: 'The issuer cannot be reached, or its metadata is not valid; `err` says why.',
    remedy: 'Correct the issuer, or its network path. Single sign-on is refused until then.',
  },
  SVC6006: {
    text: 'the user info of the identity provider could not be read',
    cause: 'The provider did not answer the user info request of a login.',
    remedy: 'Check the provider, and the scopes of the client. Logins that need groups are refused.',
  },
  SVC6007: {
    text: 'single sign-on refused',
    cause: 'A login did not meet a rule; `reason` names it.',
    remedy: 'None is needed for strangers. The page on single sign-on lists the reasons.',
  },
  SVC6008: {
    text: 'a webhook was refused',
    cause: 'The connection with the secret of the webhook is missing or cannot be read.',
    remedy: 'Correct the connection that the bundle names for its webhook.',
  },
  SVC6009: {
    text: 'a test of a connection ended without a result',
    cause: 'The process of the test failed; `err` says how.',
    remedy: 'Test the connection again, and look at the log of the executor if it repeats.',
  },
  SVC6010: {
    text: 'a command could not be written to the audit log',
    cause: 'The database did not take the entry of a command of the command line; `err` says why.',
    remedy: 'Restore the database. The change itself has an entry of its own.',
  },
} as const satisfies Record<string, LogMessage>;
