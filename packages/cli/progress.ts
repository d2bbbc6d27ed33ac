import { Listr } from 'listr2';
import type { CliContext } from './context.ts';

/** One stage of a longer start. What it returns replaces its title: what happened, instead of what was planned. */
export type Stage = { readonly title: string; readonly run: () => Promise<string | undefined> };

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
      task: async (_: unknown, task: { title: string }) => {
        try {
          task.title = (await run()) ?? title;
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
