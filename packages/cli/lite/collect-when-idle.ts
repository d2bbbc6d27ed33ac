/**
 * Returns memory that a start or a busy period has left. V8 collects garbage only when memory is requested, so an idle
 * process would keep all memory that it ever used. A laptop needs that memory for other programs.
 *
 * A collection takes some tens of milliseconds, so it waits for an idle moment.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export type Machine = {
  /** Processor time used so far, in seconds. */
  cpuSeconds(): number;
  heapBytes(): number;
  collect(): void;
};

const LOOK_MS = 10_000;
/** An idle lite uses less than this share of a processor, even with an open web UI. */
const IDLE_SHARE = 0.02;
/** A smaller gain is not worth a pause. */
const GROWN_BYTES = 8 * 2 ** 20;

/** Returns a function that stops the timer. */
export function collectWhenIdle(machine: Machine = thisProcess()): () => void {
  let usedBefore = machine.cpuSeconds();
  let heapAfterLast = 0;
  const timer = setInterval(() => {
    const used = machine.cpuSeconds();
    const isIdle = (used - usedBefore) * 1_000 < LOOK_MS * IDLE_SHARE;
    usedBefore = used;
    if (!isIdle || machine.heapBytes() - heapAfterLast < GROWN_BYTES) return;
    machine.collect();
    heapAfterLast = machine.heapBytes();
    usedBefore = machine.cpuSeconds(); // excludes the processor time of the collection itself
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function thisProcess(): Machine {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return {
    cpuSeconds() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
    heapBytes: () => getHeapStatistics().total_heap_size,
    collect,
  };
}
