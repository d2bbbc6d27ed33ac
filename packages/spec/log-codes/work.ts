/** Codes of the scheduler, the executors, the calls of agents, and the agent. */
import type { LogMessage } from './message.ts';

export const WORK_CODES = {
  SVC2001: {
    text: 'a claim failed and is tried again',
    cause: 'The statement that claims queued attempts failed for a reason that is no outage; `err` has the stack.',
    remedy: 'Report it if it repeats. No attempt is lost.',
  },
  SVC2002: {
    text: 'scheduler: … failed and is tried again',
    cause: 'Work in the background of the scheduler failed; `err` has the stack.',
    remedy: 'Report it if it repeats. The next tick does the work again.',
  },
  SVC2003: {
    text: 'could not read which tenants wait for workers',
    cause: 'A statement of the scheduler failed for a reason that is no outage.',
    remedy: 'Report it if it repeats. Until then, tenants share workers without regard to waiting ones.',
  },
  SVC2004: {
    text: 'scheduler: a tick failed and is tried again',
    cause: 'The database did not answer, or a statement failed; `err` says which.',
    remedy: 'Restore the database. It is logged once for each series of failures.',
  },
  SVC2005: {
    text: 'the clock of the database was set: leases of attempts begin again',
    cause: 'The clock of the Postgres host jumped forward or back.',
    remedy: 'Let the host slew its clock by NTP instead. A lost attempt is found one lease later.',
  },
  SVC2006: {
    text: 'attempt lease expired: no heartbeat',
    cause: 'The agent of the attempt is dead, cannot reach a control plane, or has too little CPU to send heartbeats.',
    remedy: 'Look at the agent or pod of the attempt. The loss uses up no retry, within its limit.',
  },
  SVC2007: {
    text: 'the next run of a DAG could not be created: tried again in … s',
    cause: 'The schedule of the DAG, or the insert of its run, failed; `err` says how.',
    remedy: 'Correct the timetable of the DAG and deploy it. Other DAGs are not affected.',
  },
  SVC2008: {
    text: 'a run that assets caused could not be created: tried again with the next event',
    cause: 'The condition or the partition mapper of the DAG, or the insert of its run, failed.',
    remedy: 'Correct the DAG and deploy it; then send the event again.',
  },
  SVC2009: {
    text: 'a backfill could not be advanced: tried again at the next tick',
    cause: 'A run of the backfill could not be created; `err` says why.',
    remedy: 'Correct the DAG, or cancel the backfill.',
  },
  SVC2010: {
    text: 'a triggerer has ended: it is started again',
    cause: 'The process of deferred triggers failed; `why` has its last words.',
    remedy: 'If it repeats, look at the triggers of the DAG version: one of them may end the process.',
  },
  SVC2011: {
    text: 'triggerer lease expired: no heartbeat',
    cause: 'The triggerer is dead or cannot reach a control plane.',
    remedy: 'None is needed. Its triggers move to another one.',
  },
  SVC2012: {
    text: 'old runs could not be removed; tried again later',
    cause: 'The database did not answer, or refused a delete; `err` says why.',
    remedy: 'If it repeats, look for locks on the tables of runs.',
  },
  SVC2013: {
    text: 'logs of removed runs are still there; tried again later',
    cause: 'The store of task logs did not delete logs of removed runs; `reason` says why.',
    remedy: 'Correct the permissions of the store.',
  },
  SVC3001: {
    text: 'a lost attempt could not be recorded: tried again',
    cause: 'The database did not answer; `err` says why.',
    remedy: 'Restore the database. It is recorded afterwards, at the latest when the lease expires.',
  },
  SVC3002: {
    text: 'the agent has ended: it is started again',
    cause: 'The local agent was killed or failed; `how` has the exit code or signal.',
    remedy: 'If it repeats, look for a lack of memory, and at the lines of the agent before it.',
  },
  SVC3003: {
    text: 'the agent is not connected',
    cause: 'The local agent has lost its connection to this process.',
    remedy: 'None is needed; it connects again. If it does not, it is replaced when leases expire.',
  },
  SVC3004: {
    text: 'processes of a dead agent could not be ended',
    cause: 'Processes of tasks did not react to SIGKILL, for example because they wait for a disk.',
    remedy: 'End the processes that the field lists, or restart the host.',
  },
  SVC3005: {
    text: 'a remote worker is not connected',
    cause: 'The network between the worker and the control plane is broken, or the worker has stopped.',
    remedy: 'Look at the worker. Its attempts continue, and are lost only when their leases expire.',
  },
  SVC3006: {
    text: 'the token of worker … was revoked, or its tenant is disabled',
    cause: 'An administrator revoked the token or disabled the tenant.',
    remedy: 'None is needed. Give the worker a new token if it should return.',
  },
  SVC3007: {
    text: 'could not save the end of a worker',
    cause: 'The database did not answer; `err` says why.',
    remedy: 'None is needed. The worker is shown as lost after its lease.',
  },
  SVC3008: {
    text: 'could not save worker heartbeats',
    cause: 'The database did not answer; `err` says why.',
    remedy: 'Restore the database. Workers may be shown as lost until then, and keep their attempts.',
  },
  SVC3009: {
    text: 'an attempt without a worker waits for its lease',
    cause: 'The last worker of a queue went away, and the loss of an attempt could not be recorded.',
    remedy: 'Restore the database. The attempt is dispatched again when its lease expires.',
  },
  SVC3010: {
    text: 'an attempt of the null executor failed',
    cause: 'The executor for measurements could not record an attempt; `err` says why.',
    remedy: 'Use another executor for work.',
  },
  SVC3011: {
    text: 'staged files of runs that are over could not be removed; tried again later',
    cause: 'The staging directory, the cluster or the database did not answer.',
    remedy: 'If it repeats, correct the permissions of the staging directory or of claims.',
  },
  SVC3012: {
    text: 'staged files of a run could not be removed; tried again later',
    cause: 'Files of one run cannot be deleted; `err` says why.',
    remedy: 'Correct the permissions, or delete the files of that run.',
  },
  SVC3020: {
    text: 'a warm worker could not be started',
    cause: 'The pod of a warm worker failed; the fields have cause and text.',
    remedy: 'Correct the image or the resources of the DAG. After some failures its waiting tasks fail.',
  },
  SVC3021: {
    text: 'the agents of an image are too old for warm workers: its attempts get pods of their own',
    cause: 'The image of a DAG was built with an older svc.',
    remedy: 'Build the image again and deploy it. Its tasks start more slowly until then.',
  },
  SVC3022: {
    text: 'could not keep warm pools at their size: tried again',
    cause: 'The database did not answer which pools need idle workers.',
    remedy: 'Restore the database.',
  },
  SVC3023: {
    text: 'could not save the row of a warm worker',
    cause: 'The database did not answer; `err` says why.',
    remedy: 'None is needed. The list of workers is behind until the next change.',
  },
  SVC3024: {
    text: 'attempts could not be passed on to workers of another process: tried again',
    cause: 'The database did not answer while an attempt moved between control planes.',
    remedy: 'Restore the database. No attempt is lost.',
  },
  SVC3025: {
    text: 'kubernetes: pods could not be looked after: tried again',
    cause: 'The API server or the database did not answer; `err` says which.',
    remedy: 'Check the API server and the service account of the control plane.',
  },
  SVC3026: {
    text: 'kubernetes: the pods cannot be watched: tried again',
    cause: 'The watch of pods was refused or broken; `err` says how.',
    remedy: 'Check the API server, and that the service account may watch pods.',
  },
  SVC4001: {
    text: 'the end of a log could not be stored',
    cause: 'The store of task logs failed when an attempt reported its end; `err` says how.',
    remedy: 'Restore the store. The last lines of that attempt are lost, its outcome is not.',
  },
  SVC4002: {
    text: 'a task reads a secret its DAG does not declare: auth.secret_scoping=enforce would deny it',
    cause: 'The DAG reads a variable or connection that the compiler did not see in its text.',
    remedy: 'Declare the name in the DAG before you set `auth.secret_scoping` to `enforce`.',
  },
  SVC4003: {
    text: 'secrets that no configured key opens are not delivered',
    cause: 'A key was removed from the configuration while secrets still need it.',
    remedy: 'Add the old key to the configured keys, or store the secrets again.',
  },
  SVC4004: {
    text: 'a secret was denied to an attempt that is over',
    cause: 'A process of a finished or lost attempt still asks for secrets.',
    remedy: 'Look at the process of that attempt. A task that leaves processes behind causes this.',
  },
  SVC4005: {
    text: 'a secret is delivered to an attempt that is over: auth.secret_liveness_mode=enforce would deny it',
    cause: 'A process of a finished or lost attempt still asks for secrets.',
    remedy: 'Set `auth.secret_liveness_mode` to `enforce` when no legitimate task does this.',
  },
  SVC4006: {
    text: 'an attempt outlived its credential and is ended',
    cause: 'The attempt ran longer than `auth.max_attempt_credential_lifetime`.',
    remedy: 'Raise the key for long tasks, or divide the task.',
  },
  SVC4007: {
    text: 'the token of a pod was not exchanged',
    cause: 'A pod presented a token that is not for it, or for an attempt that is over; `reason` says which.',
    remedy: 'If the pod is not yours, find who started it: the audit log has an entry.',
  },
  SVC4008: {
    text: 'a note about a warm worker or triggerer',
    varies: true,
    cause: 'The executor says something about a process that has no task log.',
    remedy: 'Do what the message says, if anything.',
  },
  SVC4009: {
    text: 'a line could not be added to the log of a task',
    cause: 'The store of task logs or the database failed; `line` has the line.',
    remedy: 'Restore the store.',
  },
  SVC4010: {
    text: 'the store of task logs and large values cannot be used',
    cause: 'The disk or the object store refused a call of an agent; `err` says why.',
    remedy: 'Restore the store. Agents repeat the call.',
  },
  SVC4011: {
    text: 'an agent call failed',
    cause: 'An error that svc does not know happened in a call of an agent; `err` has the stack.',
    remedy: 'Report it with the stack.',
  },
  SVC8001: {
    text: '…; the Python process of this version is replaced',
    cause: 'A task left threads or files in the process that starts tasks, or it grew too large.',
    remedy: 'None is needed. The first start after it takes longer.',
  },
  SVC8002: {
    text: '…: this worker takes no more attempts, and leaves',
    cause: 'A task left something behind on a worker that must be clean for the next one.',
    remedy: 'None is needed. Another worker takes its place.',
  },
  SVC8003: {
    text: 'attempt …: …',
    cause: 'An error that the agent does not know happened while it ran an attempt; the line has the stack.',
    remedy: 'Report it with the stack. The attempt is found when its lease expires.',
  },
  SVC8004: {
    text: 'the DAG version could not be made ready: …',
    cause: 'The environment or the file of a DAG version could not be loaded before its first attempt.',
    remedy: 'None is needed; the first attempt loads it again and reports the failure in its log.',
  },
  SVC8005: {
    text: 'lost … (…): what runs here continues (… attempts), connecting again',
    cause: 'The connection of a remote worker to its control plane is broken.',
    remedy: 'Look at the control plane and the network. The worker tries all its servers.',
  },
  SVC8006: {
    text: 'asked to stop … s ago, and no control plane has taken the report: leaving without',
    cause: 'The agent was stopped while no control plane could be reached.',
    remedy: 'Restore the control plane. The attempt counts as lost when its lease expires.',
  },
  SVC8007: {
    text: 'no control plane for 15 minutes: giving up',
    cause: 'No control plane of the worker answers.',
    remedy: 'Restore a control plane, and start the worker again.',
  },
  SVC8008: {
    text: '… does not answer yet (…); asking again',
    cause: 'A server that the worker should join does not answer or refuses; the line says why.',
    remedy: 'Correct the address, the certificate authority or the token that the line names.',
  },
  SVC8009: {
    text: 'a setting of the agent is missing or wrong',
    varies: true,
    cause: 'The agent was started with an environment or arguments that it cannot use.',
    remedy: 'Correct what the message names; `svc-agent --help` lists all settings.',
  },
} as const satisfies Record<string, LogMessage>;
