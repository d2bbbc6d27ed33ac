/** Runs the commands of one build in order, cleans up after them, and reads the digest of the pushed image. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { Environment } from '../context.ts';
import { atProcessEnd } from './at-process-end.ts';
import type { ToolName } from './container-tool.ts';
import { readIfPresent } from './ignore-file.ts';
import { ToolFailure, runTool } from './run-tool.ts';
import { buildCommands, readDigest } from './tool-commands.ts';
import type { ImageBuild, ToolCommand } from './tool-commands.ts';

/** Cleaning up also happens after the user has stopped the build, and must not take long then. */
const TIDY_TIMEOUT_MS = 60_000;

export type BuildRun = {
  readonly tool: ToolName;
  readonly build: Omit<ImageBuild, 'digestFile' | 'listName'>;
  /** The build context. */
  readonly directory: string;
  readonly env: Environment;
  readonly onLine?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Converts a failure of the tool to an error for the user. */
  readonly explain: (step: ToolCommand['step'], failure: ToolFailure) => Error;
};

/** Returns the digest of the pushed image, or null if nothing is pushed. */
export async function runBuild(run: BuildRun): Promise<string | null> {
  const { tool, directory, env, onLine, signal } = run;
  const scratch = mkdtempSync(join(tmpdir(), 'svc-image-'));
  const remove = (): void => rmSync(scratch, { recursive: true, force: true });
  using _ = atProcessEnd(remove);
  const build: ImageBuild = {
    ...run.build,
    digestFile: join(scratch, 'digest'),
    listName: `localhost/svc-list:${randomBytes(8).toString('hex')}`,
  };
  const commands = buildCommands(tool, build);
  const base = { program: tool, directory, env };
  try {
    for (const { step, arguments: words } of commands) {
      if (step === 'tidy') continue;
      await runTool({ ...base, arguments: words, signal, ...(onLine && { onLine }) }).catch((error: unknown) => {
        throw error instanceof ToolFailure ? run.explain(step, error) : error;
      });
    }
    return build.push ? pushedDigest(tool, build) : null;
  } finally {
    for (const { arguments: words } of commands.filter(({ step }) => step === 'tidy')) {
      // Runs also after a failure, when there may be nothing to clean up.
      await runTool({ ...base, arguments: words, timeoutMs: TIDY_TIMEOUT_MS }).catch(() => {});
    }
    remove();
  }
}

/** Some releases of buildah succeed although pushing a list has failed. Only a digest proves that the image arrived. */
function pushedDigest(tool: ToolName, build: ImageBuild): string {
  const digest = readDigest(tool, readIfPresent(build.digestFile) ?? '');
  if (digest !== undefined) return digest;
  throw new CliError(`${tool} ended without an error, but names no digest for ${build.image}: it was not pushed`, {
    hint: 'Check that the registry can be reached, or choose another tool with --builder.',
  });
}
