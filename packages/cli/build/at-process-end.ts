const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `cleanup` when the process ends or is told to while it is still registered. It must not wait: nothing runs after it.
 * Whoever else listens for the signal keeps the say over how the process ends; if nobody does, it ends by the signal as
 * it would have without us.
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
