const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `cleanup` when the process ends or receives a signal while it is registered. It must be synchronous, because
 * nothing runs after it. If another listener for the signal exists, that listener decides how the process ends.
 * Otherwise the process ends by the signal.
 */
export function atProcessEnd(cleanup: () => void): Disposable {
  const dispose = (): void => {
    process.off('exit', cleanup);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  function onSignal(signal: NodeJS.Signals): void {
    dispose();
    cleanup();
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  }
  process.on('exit', cleanup);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { [Symbol.dispose]: dispose };
}
