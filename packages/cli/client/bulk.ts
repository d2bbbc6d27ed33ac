/** Writing many entities at once, through the API's bulk requests. */
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from './client.ts';

export const ON_EXISTING = ['overwrite', 'skip', 'fail'] as const;
export type OnExisting = (typeof ON_EXISTING)[number];

type BulkAnswer = {
  create: { success: string[]; errors: { error: string; status_code: number }[] } | null;
};

/** Below the server's limit of 1 MiB per request, with room for the envelope. */
const MAX_REQUEST_BYTES = 900_000;

/**
 * One request is one transaction: a file that fits into one is imported whole or not at all. Larger ones are cut, and a
 * failure then says how far it got.
 */
export async function bulkCreate(input: {
  client: Client;
  path: string;
  entities: readonly object[];
  onExisting: OnExisting;
}): Promise<string[]> {
  const { client, path, entities, onExisting } = input;
  const written: string[] = [];
  for (const batch of batches(entities)) {
    const body = { actions: [{ action: 'create', entities: batch, action_on_existence: onExisting }] };
    const { create } = await client.patch<BulkAnswer>(path, body).catch((error: unknown) => {
      throw written.length === 0 ? error : afterSome(error, written.length);
    });
    const [problem] = create?.errors ?? [];
    if (problem !== undefined) throw new CliError(problem.error);
    written.push(...(create?.success ?? []));
  }
  return written;
}

function afterSome(error: unknown, written: number): CliError {
  const { message, exitCode } = error instanceof CliError ? error : { message: String(error), exitCode: EXIT.failed };
  return new CliError(`${message} (${written} were written before that)`, { exitCode });
}

export function batches(entities: readonly object[], maxBytes = MAX_REQUEST_BYTES): object[][] {
  const result: object[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const entity of entities) {
    const bytes = Buffer.byteLength(JSON.stringify(entity)) + 1;
    if (size + bytes > maxBytes) {
      result.push([]);
      size = 0;
    }
    result.at(-1)?.push(entity);
    size += bytes;
  }
  return result;
}
