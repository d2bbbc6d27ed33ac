/** Runs something again after each change of a file, until a signal ends it. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError, messageOf } from '../cli-error.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { watchFolder } from '../lite/watch-folder.ts';
import { listenForStop } from '../stop-signal.ts';

/** Editors write a file in several steps. */
const SETTLE_MS = 150;

export async function runAtChanges(context: CliContext, path: string, run: () => Promise<void>): Promise<void> {
  const folder = statSync(path, { throwIfNoEntry: false })?.isFile() ? dirname(path) : path;
  const stop = listenForStop();
  let changed = Promise.withResolvers<void>();
  const watch = watchFolder({
    folder,
    onChange: () => changed.resolve(),
    warn: (message) => warn(context, message),
  });
  try {
    while (!stop.isRequested()) {
      changed = Promise.withResolvers<void>();
      await run().catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error;
        context.stderr.write(`svc: ${messageOf(error)}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
      });
      if (stop.isRequested()) break;
      context.stderr.write('svc: waiting for a change; Ctrl-C ends it\n');
      await Promise.race([changed.promise, stop.requested]);
      await Promise.race([new Promise((resolve) => setTimeout(resolve, SETTLE_MS)), stop.requested]);
    }
  } finally {
    stop.dispose();
    await watch.close();
  }
}
