/**
 * `svc-agent work`: runs what the control plane orders, until it is asked to leave.
 *
 *   input open     orders are taken; a broken stream is opened again
 *   input closed   no more orders: running attempts are finished and reported, then it ends. A pod has no input
 *   joined         it has no input either, because people have started it (join.ts)
 *   order to drain the same; also when the control plane refuses the stream of a worker of a pod
 *   SIGTERM        the same, and running attempts are stopped; it ends within half a minute even without a report
 *   unclean        an attempt left something behind that the next one would meet: the same as a closed input
 *   15 minutes without contact to any control plane: everything is given up
 */
import { hostname } from 'node:os';
import type { Readable } from 'node:stream';
import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { LINE_VARIABLE } from '@svc/proto/line.ts';
import { createBackoff } from '@svc/spec/backoff.ts';
import { coded } from './coded.ts';
import { connectControlPlane } from './contact/control-plane.ts';
import type { ControlPlane } from './contact/control-plane.ts';
import { watchContact } from './contact/contact-watch.ts';
import { connectLine } from './contact/direct-line.ts';
import { isolationKind } from './isolation.ts';
import { exchangeToken } from './contact/exchange-token.ts';
import { join as joinControlPlane } from './join.ts';
import type { Joined } from './join.ts';
import type { AgentSettings, JoinSettings } from './settings.ts';
import { giveUpAfterStop } from './stop-grace.ts';
import { createWorker } from './worker.ts';
import type { Worker } from './worker.ts';

/** Refusals of the credential, which a repetition would not change. */
const REFUSALS = new Set<status>([status.PERMISSION_DENIED, status.UNAUTHENTICATED]);
/** Spread, so that workers that lost the same control plane do not all reconnect at the same moment. */
const PAUSES = { firstMs: 100, longestMs: 5_000, spread: true };

export async function work(input: {
  settings: AgentSettings;
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  stdin: Readable;
  /** Aborted by SIGTERM. */
  stop: AbortSignal;
  say: (text: string) => void;
}): Promise<number> {
  const { settings, env, version, stop, say } = input;
  const controlPlane = connectControlPlane({
    servers: settings.servers,
    tlsCa: settings.tlsCa,
    mayMove: settings.join !== undefined,
    line: connectLine(env[LINE_VARIABLE]),
  });
  const leaving = new AbortController();
  const isPod = settings.tokenFile !== '';
  const joined = settings.join && (await joinAs(settings.join));
  const own = isPod
    ? await exchangeToken(controlPlane, settings.tokenFile, stop)
    : { token: joined?.token ?? settings.token, versionKey: '' };
  const workerId = joined?.workerId ?? settings.workerId;
  const workerToken = (): string => (leaving.signal.aborted ? '' : orders.token());
  const credential = (): string => orders.token();
  const isolation = isolationKind(env, isPod || joined !== undefined);
  const worker = await createWorker({
    controlPlane,
    workerId,
    env,
    workerToken,
    credential,
    isRemote: joined !== undefined,
    shownAs: settings.join?.name ?? '',
    say,
    isolation,
    // Pods of warm pools also have a worker id, but other workers can replace them.
    isLocal: !isPod && settings.workerId !== '',
  });
  const leave = (why: string): void => {
    if (!leaving.signal.aborted) say(`leaving: ${why}`);
    leaving.abort();
  };
  const orders = takeOrders({
    controlPlane,
    worker,
    token: own.token,
    version,
    leaving: leaving.signal,
    onDrain: leave,
    ...(isPod && { onRefused: leave }),
    ...(settings.join && { onRefused: (why: string) => joinAgain(why) }),
    ...(settings.join && { contact: tellContact({ server: controlPlane.server, running: () => worker.running, say }) }),
  });

  async function joinAs(join: JoinSettings): Promise<Joined> {
    say(`joining ${join.servers.join(', ')}`);
    const as = await joinControlPlane(controlPlane, { settings: join, version, signal: stop, say });
    say(
      `joined ${controlPlane.server()} for ${as.queues.join(', ')} with ${join.slots} slots, as worker ${as.workerId}`,
    );
    return as;
  }

  /** Its credential is too old or has another secret. If the worker is no longer wanted, joining is refused as well. */
  async function joinAgain(why: string): Promise<string | undefined> {
    try {
      return settings.join && (await joinAs(settings.join)).token;
    } catch (error) {
      leave(`${why}; ${(error as Error).message}`);
      return undefined;
    }
  }

  // The first attempt would wait for this: the code and packages of the version, imported.
  if (own.versionKey !== '') worker.prepare(own.versionKey, credential);

  if (!isPod && !joined) {
    input.stdin.on('error', () => {}).once('close', () => leaving.abort());
    input.stdin.resume().once('end', () => leaving.abort());
  }
  const stopAll = (): void => {
    leaving.abort();
    worker.stop('the agent was asked to stop');
  };
  stop.addEventListener('abort', stopAll);

  leaving.signal.addEventListener('abort', () => worker.leave());
  worker.onDrain(() => leaving.abort());

  const code = await new Promise<number>((resolve) => {
    const leaveWhenIdle = (): void => {
      if (leaving.signal.aborted && worker.running === 0) resolve(0);
    };
    worker.onIdle(leaveWhenIdle);
    leaving.signal.addEventListener('abort', leaveWhenIdle);
    const onLost = (): void => {
      leaving.abort();
      worker.abandon();
      resolve(1);
    };
    if (stop.aborted) stopAll(); // aborted while the token was exchanged
    watchContact({ controlPlane, isConnected: orders.isConnected, say, onLost });
    giveUpAfterStop({ stop, say, onLost });
  });
  await worker.close();
  controlPlane.close();
  return code;
}

function takeOrders(input: {
  controlPlane: ControlPlane;
  worker: Worker;
  token: string;
  version: string;
  leaving: AbortSignal;
  onDrain: (reason: string) => void;
  /** Absent: the stream is opened again, for as long as this process is wanted. */
  onRefused?: (reason: string) => void | Promise<string | undefined>;
  /** Called when the stream of orders opens and when it breaks. */
  contact?: { gained(): void; lost(why: string): void };
}): { isConnected(): boolean; token(): string } {
  const { controlPlane, worker, version, leaving } = input;
  let { token } = input;
  let isConnected = false;
  const pauses = createBackoff(PAUSES);

  function open(): void {
    if (leaving.aborted) return;
    const about = { hostname: hostname(), pid: process.pid, version, running_tokens: worker.tokens() };
    const stream = controlPlane.work(about, token);
    const close = (): void => stream.cancel();
    leaving.addEventListener('abort', close);
    stream.on('data', ({ assignment, cancel, credential, drain }) => {
      if (!isConnected) input.contact?.gained();
      isConnected = true;
      pauses.reset();
      if (credential) token = credential.token;
      if (assignment) worker.accept(assignment);
      if (cancel) worker.cancel(cancel.attempt_ids, cancel.reason);
      if (drain) input.onDrain(drain.reason);
    });
    let isOver = false;
    let isAsking = false;
    const again = (why = 'it has ended the connection'): void => {
      if (isOver) return;
      isOver = true;
      if (isConnected && !leaving.aborted) input.contact?.lost(why);
      isConnected = false;
      leaving.removeEventListener('abort', close);
      setTimeout(open, pauses.next());
    };
    async function ask(onRefused: NonNullable<typeof input.onRefused>, why: string): Promise<void> {
      token = (await onRefused(why)) || token;
      again();
    }
    stream.on('error', (error) => {
      const { code, details } = error as ServiceError;
      if (!REFUSALS.has(code) || !input.onRefused) return again(details);
      isAsking = true;
      void ask(input.onRefused, details);
    });
    stream.on('end', () => again()).on('close', () => isAsking || again());
  }

  open();
  return { isConnected: () => isConnected, token: () => token };
}

/** Tells people that run the worker about lost servers. Without a message the worker would seem to hang. */
function tellContact(input: { server: () => string; running: () => number; say: (text: string) => void }) {
  const { server, running, say } = input;
  let standsAt: string | undefined;
  let lostAt = 0;
  return {
    gained(): void {
      if (standsAt !== undefined) {
        const seconds = ((performance.now() - lostAt) / 1_000).toFixed(1);
        say(`${server() === standsAt ? 'rejoined' : 'moved to'} ${server()} after ${seconds} s`);
      }
      standsAt = server();
    },
    lost(why: string): void {
      lostAt = performance.now();
      say(
        coded(
          'SVC8005',
          `lost ${standsAt} (${why}): what runs here continues (${running()} attempts), connecting again`,
        ),
      );
    },
  };
}
