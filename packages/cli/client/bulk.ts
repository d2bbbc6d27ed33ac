/** Writes many entities through bulk requests of the API. */
import type { BulkResponse } from '@svc/client/wire-types.ts';
import { CliError, EXIT } from '../cli-error.ts';

export const ON_EXISTING = ['overwrite', 'skip', 'fail'] as const;
export type OnExisting = (typeof ON_EXISTING)[number];

type CreateAction<Entity> = {
  readonly action: 'create';
  readonly entities: Entity[];
  readonly action_on_existence: OnExisting;
};

/** Below the server's limit of 1 MiB per request, with room for the rest of the body. */
const MAX_REQUEST_BYTES = 900_000;

/**
 * One request is one transaction, so a file that fits into one is imported completely or not at all. Larger files are
 * split, and a failure says how many entities were written.
 */
export async function bulkCreate<Entity extends object>(input: {
  entities: readonly Entity[];
  onExisting: OnExisting;
  /** Sends one action to its resource. */
  send: (action: CreateAction<Entity>) => Promise<BulkResponse>;
}): Promise<string[]> {
  const { entities, onExisting, send } = input;
  const written: string[] = [];
  for (const batch of batches(entities)) {
    const action = { action: 'create', entities: batch, action_on_existence: onExisting } as const;
    const { create } = await send(action).catch((error: unknown) => {
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

export function batches<Entity extends object>(entities: readonly Entity[], maxBytes = MAX_REQUEST_BYTES): Entity[][] {
  const result: Entity[][] = [];
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
