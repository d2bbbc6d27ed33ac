import { Listr } from 'listr2';
import type { CliContext } from './context.ts';

/** One stage of a longer start. Its result replaces its title, so that the line says what happened. */
export type Stage = {
  readonly title: string;
  /** `say` reports progress. */
  readonly run: (say: (text: string) => void) => Promise<string | undefined>;
};

/** Without a live list, every message is a line, so one per second is enough. */
const SAY_EVERY_MS = 1_000;

/**
 * Shows stages as they run: a live list on a terminal, otherwise one plain line per event. Throws the error of a stage.
 */
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
          // The caller prints the whole message once. The list would repeat it in its own layout.
          failure = { error };
          throw new Error('see below', { cause: error });
        }
      },
    })),
    {
      registerSignalListeners: false, // the command handles signals
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
