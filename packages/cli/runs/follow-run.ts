/** Watches a run at the terminal, and turns its end into the result of a command. */
import { failureText } from '@svc/spec/failure-causes.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import type { CliContext } from '../context.ts';
import { printable } from '../output/text.ts';
import { listenForStop } from '../stop-signal.ts';
import { durationText, instanceName, secondsOf } from './fields.ts';
import { frameOf } from './frame.ts';
import { createPlainProgress } from './plain-lines.ts';
import { openScreen } from './screen.ts';
import { failuresOf } from './task-lines.ts';
import type { Snapshot } from './task-lines.ts';
import { watchRun } from './watch-run.ts';
import type { Watch } from './watch-run.ts';

export type FollowOptions = {
  readonly clientOf: () => Promise<Client>;
  readonly dagId: string;
  readonly runId: string;
  /** Shows nothing while the run is active. */
  readonly isQuiet: boolean;
};

const OUTAGE = 'the control plane does not answer: trying again';

/** Shows a live picture on a terminal, otherwise a line per event. Ctrl-C stops watching, and the run continues. */
export async function followRun(context: CliContext, options: FollowOptions): Promise<Snapshot> {
  const { dagId, runId, isQuiet } = options;
  return untilStopped(`the run goes on; end it with: svc runs cancel ${dagId} ${runId}`, (signal) => {
    const watch = { ...options, signal };
    if (isQuiet) return watchRun(watch);
    return context.stdout.isTTY ? onScreen(context, watch) : inLines(context, watch);
  });
}

/** Runs work that may wait for a long time. The first signal ends it with this hint. */
export async function untilStopped<Result>(
  hint: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = listenForStop();
  const stopping = new AbortController();
  void stop.requested.then(() => stopping.abort(new CliError('interrupted', { exitCode: EXIT.interrupted, hint })));
  try {
    return await work(stopping.signal);
  } finally {
    stop.dispose();
  }
}

async function onScreen({ stdout }: CliContext, watch: Watch): Promise<Snapshot> {
  const screen = openScreen(stdout);
  let last: Snapshot | undefined;
  try {
    return await watchRun({
      ...watch,
      onSnapshot: (snapshot) => {
        last = snapshot;
        screen.draw(frameOf(snapshot, screen.size()));
      },
      onOutage: () => {
        if (last !== undefined) screen.draw(frameOf({ ...last, at: Date.now() }, screen.size(), OUTAGE));
      },
    });
  } finally {
    screen.end();
  }
}

async function inLines({ stdout, stderr }: CliContext, watch: Watch): Promise<Snapshot> {
  const progress = createPlainProgress();
  let isAway = false;
  return watchRun({
    ...watch,
    onSnapshot: (snapshot) => {
      isAway = false;
      for (const line of progress.lines(snapshot)) stdout.write(`${printable(line)}\n`);
    },
    onOutage: () => {
      if (!isAway) stderr.write(`${OUTAGE}\n`);
      isAway = true;
    },
  });
}

export const endText = ({ run }: Snapshot): string => {
  const how = run.state === 'success' ? 'succeeded' : run.state;
  const seconds = secondsOf(run, undefined);
  return `run ${run.dag_run_id} of DAG ${run.dag_id} ${how}${seconds === null ? '' : ` after ${durationText(seconds)}`}`;
};

const NAMED_AT_MOST = 5;

/** Returns undefined if the run succeeded. */
export function failureOf(snapshot: Snapshot): CliError | undefined {
  const { run, instances } = snapshot;
  if (run.state !== 'failed') return undefined;
  const failed = failuresOf(instances);
  const named = failed.slice(0, NAMED_AT_MOST).map((instance) => {
    const why = failureText(instance);
    return why === null ? instanceName(instance) : `${instanceName(instance)} (${why})`;
  });
  const more = failed.length > named.length ? ` and ${failed.length - named.length} more` : '';
  const text = endText(snapshot);
  return new CliError(named.length === 0 ? text : `${text}: ${named.join(', ')}${more}`, {
    hint:
      named.length === 0
        ? `look at it with: svc runs show ${run.dag_id} ${run.dag_run_id}`
        : `read why with: svc runs logs ${run.dag_id} ${run.dag_run_id}`,
  });
}
