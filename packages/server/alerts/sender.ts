/**
 * Sends alerts. Any scheduler may send any alert: it takes due rows with a lease, so a process that dies delays them by
 * the lease only. A message keeps its idempotency key however often it is sent.
 *
 *   alert_facts ── openAlerts ──▶ alerts (due) ── claim, diagnose, send ──▶ sent: not due, or due again for an update
 *                                                                      └──▶ not sent: due again after a growing pause
 */
import type { Logger } from 'pino';
import { endOldAlerts, claimAlert, dagsOfAlert, noteNotSent, noteSent } from '../db/alerts/alerts.ts';
import type { AlertRow } from '../db/alerts/alerts.ts';
import { nextDueAt } from '../db/alerts/facts.ts';
import { findRule, noteChannelFailed, noteChannelWorks } from '../db/alerts/rules.ts';
import type { RuleRow } from '../db/alerts/rules.ts';
import { findRunId } from '../db/dag-runs/run-lookups.ts';
import type { Database } from '../db/database.ts';
import { diagnoseInstance } from '../diagnosis/diagnose-instance.ts';
import type { TailReader } from '../diagnosis/log-tail.ts';
import type { InstanceDiagnosis } from '../diagnosis/types.ts';
import type { DagGraphs } from '../engine/shared/dag-graphs.ts';
import type { Keyring } from '../vault/keyring.ts';
import { UnsealError } from '../vault/keyring.ts';
import { loadConnectionSecrets } from '../vault/load-secrets.ts';
import type { ReaderMasks } from '../vault/reader-masks.ts';
import { canUpdate, sendMessage } from './channels/channels.ts';
import type { Carriers } from './channels/channels.ts';
import { messageOf } from './content.ts';
import type { AlertMessage, MessageKind } from './message.ts';
import { UPDATE_EVERY_SECONDS, openAlerts, reportFailingChannel } from './open-alerts.ts';
import { ChannelError } from './outbound.ts';
import { lookAtTime } from './time-alerts.ts';

/** Longer than a diagnosis and a request together, so a living process loses no lease. */
const LEASE_SECONDS = 60;
const AT_ONCE = 20;
/** A channel may take seconds for each answer. So the slow channels of one tenant leave places to other tenants. */
const OF_ONE_TENANT = AT_ONCE / 2;
const LOOK_EVERY_MS = 5_000;
const LOOK_WHILE_SENDING_MS = 1_000;
const LOOK_AT_TIME_EVERY_MS = 30_000;
const CLEAN_EVERY_MS = 3_600_000;
const FIRST_PAUSE_SECONDS = 2;
const LONGEST_PAUSE_SECONDS = 600;
/** About a day. Then the alert keeps its error and is not sent. */
const MAX_TRIES = 150;
/** A refused request may become right when someone corrects the connection. */
const PERMANENT_PAUSE_SECONDS = 300;
const LOG_LINES = 5;

export type AlertSources = {
  db: Database;
  keyring: Keyring;
  graphs: DagGraphs;
  logs: TailReader;
  masks: ReaderMasks;
  carriers: Carriers;
  baseUrl: string;
};

type SenderOptions = AlertSources & {
  processId: string;
  log: Pick<Logger, 'error'>;
  /** How long a message belongs to this process. For tests of dying processes. */
  leaseSeconds?: number;
};

/** Sends one message through the channel of a rule. Throws a `ChannelError`. */
export async function deliver(
  { db, keyring, masks, carriers }: Pick<AlertSources, 'db' | 'keyring' | 'masks' | 'carriers'>,
  input: { tenantId: string; rule: Pick<RuleRow, 'channel' | 'conn_id' | 'target'>; message: AlertMessage },
): Promise<{ message: AlertMessage; reference: string | null }> {
  const { tenantId, rule } = input;
  const scope = db.tenant(tenantId);
  const connection = await loadConnectionSecrets({ db: scope, keyring, tenantId }, rule.conn_id).catch((error) => {
    if (error instanceof UnsealError) throw new ChannelError(`connection ${rule.conn_id} cannot be decrypted`);
    throw error;
  });
  if (!connection) {
    throw new ChannelError(`there is no connection ${rule.conn_id}: create it, or change the rule`, {
      isPermanent: true,
    });
  }
  const message = await masked(masks, tenantId, input.message);
  const reference = await sendMessage(carriers, rule.channel, message, { connection, target: rule.target });
  return { message, reference };
}

/** Values of the tenant's vault never leave in a message. */
async function masked(masks: ReaderMasks, tenantId: string, message: AlertMessage): Promise<AlertMessage> {
  const mask = await masks.of(tenantId);
  const { title, text, fields, dags } = message;
  const texts = { title, text, fields, dags };
  return { ...message, ...(JSON.parse(await mask(JSON.stringify(texts))) as typeof texts) };
}

export type AlertSender = {
  start(): void;
  /** Notifies that facts may exist. */
  wake(): void;
  /** Takes facts and sends what is due, until nothing is left. Returns the number of messages. */
  drain(): Promise<number>;
  stop(): Promise<void>;
};

export function createAlertSender(sources: SenderOptions): AlertSender {
  const { db, processId, log, leaseSeconds = LEASE_SECONDS } = sources;
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<unknown> | undefined;
  let isWoken = false;
  let isStopped = false;
  let tellNews: (() => void) | undefined;
  /** Messages that are being sent, with their tenant. */
  const underWay = new Map<Promise<void>, string>();
  let cleanedAt = Date.now();
  let lookedAtTime = 0;

  /** Resolves when facts may exist, or when it is time to look again. */
  const news = (): Promise<void> =>
    new Promise((resolve) => {
      const looking = setTimeout(resolve, LOOK_WHILE_SENDING_MS);
      tellNews = () => {
        clearTimeout(looking);
        resolve();
      };
    });

  const hasRoom = (): boolean => underWay.size < AT_ONCE && !isStopped;

  function begin(alert: AlertRow): void {
    const done: Promise<void> = sendOne(sources, alert)
      .catch((error: unknown) => log.error({ err: error, alert: alert.id }, 'an alert could not be sent'))
      .finally(() => underWay.delete(done));
    underWay.set(done, alert.tenant_id);
  }

  async function drain(): Promise<number> {
    let sent = 0;
    for (;;) {
      let taken = 0;
      for (let more = 1; more > 0; taken += more) more = await openAlerts(db);
      while (hasRoom()) {
        const without = [...Map.groupBy(underWay.values(), (id) => id)].flatMap(([id, { length }]) =>
          length < OF_ONE_TENANT ? [] : [id],
        );
        const alert = await claimAlert(db.shared, { holder: processId, seconds: leaseSeconds, without });
        if (!alert) break;
        begin(alert);
        sent += 1;
      }
      if (underWay.size > 0) {
        await Promise.race([...underWay.keys(), news()]);
        tellNews?.();
      } else if (taken === 0) return sent;
    }
  }

  async function work(): Promise<void> {
    if (Date.now() - lookedAtTime >= LOOK_AT_TIME_EVERY_MS) {
      lookedAtTime = Date.now();
      await lookAtTime(db);
    }
    await drain();
    if (Date.now() - cleanedAt < CLEAN_EVERY_MS) return;
    cleanedAt = Date.now();
    await endOldAlerts(db.shared);
  }

  /** Looks again when the next message is due, and every few seconds for notifications that were lost. */
  async function plan(): Promise<void> {
    const next = await nextDueAt(db.shared).catch(() => null);
    if (isStopped || working) return;
    const wait = next === null ? LOOK_EVERY_MS : Math.min(LOOK_EVERY_MS, Math.max(50, Date.parse(next) - Date.now()));
    clearTimeout(timer);
    timer = setTimeout(run, wait);
  }

  function run(): void {
    if (isStopped) return;
    if (working) {
      isWoken = true;
      tellNews?.();
      return;
    }
    clearTimeout(timer);
    working = work()
      .catch((error: unknown) => log.error({ err: error }, 'alerts could not be looked at'))
      .finally(() => {
        working = undefined;
        if (!isWoken) return plan();
        isWoken = false;
        return run();
      });
  }

  return {
    start: run,
    wake: run,
    drain,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await working;
      await Promise.all(underWay.keys());
    },
  };

  async function sendOne(from: AlertSources, alert: AlertRow): Promise<void> {
    const scope = db.tenant(alert.tenant_id);
    const rule = await findRule(scope, alert.rule_id);
    if (!rule) return; // removed meanwhile, and the alert with it
    try {
      const { message, reference } = await deliver(from, {
        tenantId: alert.tenant_id,
        rule,
        message: await contentOf(from, alert, rule),
      });
      await noteSent(db.shared, alert, {
        kind: message.kind === 'test' ? 'open' : message.kind,
        text: `${message.title}\n${message.text}`,
        reference,
        failures: alert.failures,
        updateSeconds: canUpdate(rule.channel) ? UPDATE_EVERY_SECONDS : null,
      });
      await noteChannelWorks(scope, rule.id);
    } catch (error) {
      const isPermanent = error instanceof ChannelError && error.isPermanent;
      const reason = error instanceof ChannelError ? error.message : 'the message could not be made: see the log';
      if (!(error instanceof ChannelError)) log.error({ err: error, alert: alert.id }, 'an alert could not be sent');
      const pause = isPermanent
        ? PERMANENT_PAUSE_SECONDS
        : Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** Math.min(alert.tries, 20));
      const isGivenUp = alert.tries + 1 >= MAX_TRIES;
      await noteNotSent(db.shared, alert, { error: reason, seconds: isGivenUp ? null : pause });
      const isNew = await noteChannelFailed(scope, rule.id, reason);
      if (isNew && alert.event !== 'channel_failed') {
        await reportFailingChannel(db, { tenantId: alert.tenant_id, rule, reason });
      }
    }
  }
}

async function contentOf(sources: AlertSources, alert: AlertRow, rule: RuleRow): Promise<AlertMessage> {
  const scope = sources.db.tenant(alert.tenant_id);
  const kind: MessageKind = alert.messages === 0 ? 'open' : alert.status === 'over' ? 'over' : 'update';
  const [dags, runId] = await Promise.all([
    dagsOfAlert(scope, alert.id),
    alert.run === null ? undefined : findRunId(scope, alert.run),
  ]);
  const found = kind === 'over' || runId === undefined ? undefined : await diagnosisOf(sources, alert, runId);
  const { failure = null, waiting = null } = found ?? {};
  const wait = alert.event === 'stuck' ? (waiting?.wait ?? null) : null;
  const { baseUrl } = sources;
  return messageOf({ alert, kind, rule: rule.name, dags, runId: runId ?? null, failure, wait, baseUrl });
}

/** The diagnosis of the first task. Undefined for a run, and if the run was removed. */
async function diagnosisOf(
  sources: AlertSources,
  alert: AlertRow,
  runId: string,
): Promise<InstanceDiagnosis | undefined> {
  if (alert.task_id === '') return undefined;
  return await diagnoseInstance(
    {
      scope: sources.db.tenant(alert.tenant_id),
      tenantId: alert.tenant_id,
      db: sources.db,
      graphs: sources.graphs,
      logs: sources.logs,
    },
    {
      dagId: alert.dag_id,
      runId,
      taskId: alert.task_id,
      mapIndex: alert.map_index,
      tryNumber: alert.try_number,
    },
    { logTailLines: LOG_LINES },
  );
}
