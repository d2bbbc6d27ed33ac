import { Listr } from 'listr2';
import type { CliContext } from './context.ts';

/** One stage of a longer start. What it returns replaces its title: what happened, instead of what was planned. */
export type Stage = {
  readonly title: string;
  /** `say` tells how far it is. */
  readonly run: (say: (text: string) => void) => Promise<string | undefined>;
};

/** Where every message is a line of its own, one per second is plenty. */
const SAY_EVERY_MS = 1_000;

/** Shows stages as they run: a live list on a terminal, one plain line per event elsewhere. Throws what a stage throws. */
export async function runStages(
  context: Pick<CliContext, 'stdout'>,
  options: { stages: readonly Stage[]; plain?: boolean; isCancelled?: () => boolean },
): Promise<void> {
  const { stages, plain = false, isCancelled = () => false } = options;
  let failure: { readonly error: unknown } | undefined;
  const list = new Listr(
    stages.map(({ title, run }) => ({
      title,
      skip: () => isCancelled(),
      task: async (_: unknown, task: { title: string; output: string }) => {
        const say = throttled((text) => (task.output = text));
        try {
          task.title = (await run(say)) ?? title;
        } catch (error) {
          // The caller prints the whole message once; the list would repeat it, cut to its own layout.
          failure = { error };
          throw new Error('see below', { cause: error });
        }
      },
    })),
    {
      registerSignalListeners: false, // stopping in order is the command's business
      fallbackRendererCondition: () => plain || !context.stdout.isTTY,
      fallbackRenderer: 'simple',
      rendererOptions: { showErrorMessage: false },
    },
  );
  try {
    await list.run();
  } catch (error) {
    throw failure === undefined ? error : failure.error;
  }
}

function throttled(say: (text: string) => void): (text: string) => void {
  let last = Date.now();
  return (text) => {
    if (Date.now() - last < SAY_EVERY_MS) return;
    last = Date.now();
    say(text);
  };
}
