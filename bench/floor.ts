/**
 * Compares the product with the machine's floor: the time that a chain, a fan-out and a trigger would take with only
 * their unavoidable parts. Both are measured in the same run, because the speed of a machine changes from minute to
 * minute.
 *
 *   commit    read, then write and commit to disk: two round trips to Postgres
 *   message   from the agent to the control plane that has started it, and back
 *   fork      of a warm interpreter, up to the child's first word
 *   attempt   a fork whose child connects, takes a job and reports its result: the minimum of a task's processes
 *
 * Between two tasks every process sleeps, so each part is measured after a pause. The benchmark also prints the
 * processor time per task of the control plane, of Postgres, and of the agent with its Python processes.
 */
import { join } from 'node:path';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { openCommits } from './floor/commits.ts';
import { startForks } from './floor/forks.ts';
import { startMessages } from './floor/messages.ts';
import { cpuSecondsOfTree, cpuSecondsWithChildren, usageOf } from './process-usage.ts';
import { WARM_UPS, addBenchDags, chainRun, fanOutRun, percentile, triggerToBody } from './runs/tasks.ts';

const CHAIN = 40;
/** Chains per round. */
const CHAINS = 3;
const FAN_OUT = 1_000;
/** The default number of parallel tasks of the subprocess executor. */
const FORKS_AT_ONCE = 32;
/** The duration of a task that does nothing. */
const PAUSE_MS = 5;
const TIMES = 60;

type Piece = () => Promise<void>;

export async function run(options: BenchOptions): Promise<void> {
  const repeats = options.number('runs', 3);
  const print = (figure: string, value: number, unit: string): void =>
    options.print({ bench: 'floor', figure, value: rounded(value, 3), unit, runs: repeats });
  const cluster = await startScratchCluster({ fsync: 'on' });
  const python = await pythonEnvironment();
  const [messages, commits, forks] = await Promise.all([
    startMessages(),
    openCommits(await cluster.createDatabase()),
    startForks(python, join(ROOT, 'python')),
  ]);
  const server = await startLiveServer({ 'database.url': await cluster.createDatabase(), python });
  const pieces = { commit: commits.once, message: messages.once, network: messages.onceByNetwork, fork: forks.once };
  const floors = { commit: [] as number[], message: [] as number[], network: [] as number[], fork: [] as number[] };
  const bare: number[] = [];
  const attempts: number[] = [];
  const measured = { seconds: [] as number[], gaps: [] as number[], triggers: [] as number[], fanOuts: [] as number[] };
  const used = { chain: new Map<string, number>(), fanOut: new Map<string, number>() };
  const usage = (): Map<string, number> =>
    new Map([
      ['control plane', usageOf(server.pid)?.cpuSeconds ?? Number.NaN],
      ['Postgres', cpuSecondsWithChildren(cluster.pid ?? 0) ?? Number.NaN],
      ['agent and its Python', cpuSecondsOfTree(server.pid) - (usageOf(server.pid)?.cpuSeconds ?? 0)],
    ]);
  const counted = async <T>(into: Map<string, number>, work: () => Promise<T>): Promise<T> => {
    const before = usage();
    const result = await work();
    for (const [who, seconds] of usage()) into.set(who, (into.get(who) ?? 0) + seconds - (before.get(who) ?? 0));
    return result;
  };
  try {
    options.say('warming up');
    await addBenchDags(server);
    for (let time = 0; time < WARM_UPS; time += 1) await chainRun(server);
    await triggerToBody(server);
    for (const kind of ['fork', 'attempt'] as const) await forks.many(kind, FAN_OUT / 4, FORKS_AT_ONCE);
    for (const piece of Object.values(pieces)) for (let time = 0; time < TIMES; time += 1) await piece();

    // Interleaved (A/B), so that other load on the machine affects both.
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      options.say(`round ${repeat + 1} of ${repeats}`);
      for (const name of ['commit', 'message', 'network', 'fork'] as const)
        floors[name].push(...(await timed(pieces[name])));
      for (let time = 0; time < CHAINS; time += 1) {
        const chain = await counted(used.chain, () => chainRun(server));
        measured.seconds.push(chain.seconds);
        measured.gaps.push(...chain.gaps);
      }
      for (let time = 0; time < 10; time += 1) measured.triggers.push(await triggerToBody(server));
    }
    await fanOutRun(server); // warm-up
    // These run after the chains, because cleaning up after a fan-out would slow down a following chain.
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      options.say(`fan-out ${repeat + 1} of ${repeats}`);
      bare.push(FAN_OUT / (await secondsOf(() => forks.many('fork', FAN_OUT, FORKS_AT_ONCE))));
      attempts.push(FAN_OUT / (await secondsOf(() => forks.many('attempt', FAN_OUT, FORKS_AT_ONCE))));
      measured.fanOuts.push(await counted(used.fanOut, () => fanOutRun(server)));
    }

    const [commit, message, fork] = [p50(floors.commit), p50(floors.message), p50(floors.fork)];
    print('commit: read, write and commit, p50', commit, 'ms');
    print('message to the control plane and back, p50', message, 'ms');
    print('… by gRPC, as agents elsewhere, p50', p50(floors.network), 'ms');
    print('fork of a warm interpreter to its first word, p50', fork, 'ms');
    print('bare fork server: 1,000 processes', p50(bare), 'processes/s');
    print('… whose children connect, take a job and say a result', p50(attempts), 'processes/s');
    print('… against the bare fork server', p50(attempts) / p50(bare), 'ratio');
    const compare = (figure: string, value: number, floor: number): void => {
      print(figure, value, 'ms');
      print(`${figure}: floor`, floor, 'ms');
      print(`${figure}: against the floor`, value / floor, 'ratio');
    };
    // The next task starts when the transaction that ends the previous one commits: half a message plus a commit.
    compare('end of a task to start of the next, p50', p50(measured.gaps), message / 2 + commit);
    compare(`chain of ${CHAIN}: whole run`, p50(measured.seconds) * 1_000, CHAIN * (commit + message + fork));
    // The call, its commit, the order to the worker, and the process.
    compare('API trigger to body, p50', p50(measured.triggers), message / 2 + commit + message / 2 + fork);
    print('fan-out of 1,000 no-op tasks', p50(measured.fanOuts), 'tasks/s');
    print('fan-out against a bare fork server', p50(measured.fanOuts) / p50(bare), 'ratio');
    print('fan-out against one whose children connect', p50(measured.fanOuts) / p50(attempts), 'ratio');
    for (const [who, seconds] of used.chain)
      print(`processor time per task, chain: ${who}`, (seconds * 1_000) / (repeats * CHAINS * CHAIN), 'ms');
    for (const [who, seconds] of used.fanOut)
      print(`processor time per task, fan-out: ${who}`, (seconds * 1_000) / (repeats * FAN_OUT), 'ms');
  } finally {
    await server.close();
    messages.close();
    await forks.close();
    await commits.close();
    await cluster.remove();
  }
}

const p50 = (values: readonly number[]): number => percentile(values, 0.5);

async function secondsOf(work: Piece): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1_000;
}

/** Measures each call after a pause. */
async function timed(piece: Piece): Promise<number[]> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    times.push((await secondsOf(piece)) * 1_000);
  }
  return times;
}
