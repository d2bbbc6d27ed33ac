/**
 * The files of the commit with which a try ran, from the control plane. They are kept by their content, as agents keep
 * them, and read-only.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCodeTrees } from '@svc/agent/code-trees.ts';
import { LoadFailure } from '@svc/agent/fork-server.ts';
import { CliError, messageOf } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import type { RecordedTry } from './recorded-try.ts';

/** Returns the folder that tasks import from. Returns undefined, with a warning if useful, if there is none. */
export async function fetchVersionTree(
  context: CliContext,
  client: Client,
  recorded: RecordedTry,
): Promise<string | undefined> {
  const { run, versionNumber } = recorded;
  const place = {
    path: { dag_id: run.dag_id, dag_run_id: run.dag_run_id },
    query: { version_number: versionNumber },
  };
  try {
    const { tree, manifest } = await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/files', place);
    if (tree === null || manifest === null) return undefined;
    const folder = await createCodeTrees(context.env).get(tree, async (method, params) => {
      if (method === 'read_tree') return manifest;
      const { parts: asked } = params as { parts: string[] };
      const { parts } = await client.post('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/files/parts', {
        ...place,
        body: { parts: asked },
      });
      return JSON.stringify(parts);
    });
    const other = otherFile(folder, recorded);
    if (other === undefined) return folder;
    warn(context, `modules come from the working copy, because the commit of the run has another ${other}`);
  } catch (error) {
    if (!(error instanceof CliError || error instanceof LoadFailure)) throw error;
    warn(
      context,
      `modules come from the working copy, because the files of the commit cannot be read: ${messageOf(error)}`,
    );
  }
  return undefined;
}

/** A version may have been deployed by several commits, so what the version knows about its files is checked. */
function otherFile(folder: string, { spec, text }: RecordedTry): string | undefined {
  const { path, modules } = spec.source;
  const known = [{ path, sha256: hashOf(text) }, ...modules];
  return known.find((one) => {
    const file = join(folder, one.path);
    return !existsSync(file) || hashOf(readFileSync(file)) !== one.sha256;
  })?.path;
}

const hashOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');
