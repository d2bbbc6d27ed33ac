/** Prevents a caller who sees masked conf from learning it by searching or sorting. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { findConfs, matchingConfs } from '../../db/dag-runs/conf-search.ts';
import type { ConfOfRun } from '../../db/dag-runs/conf-search.ts';
import type { RunFilter } from '../../db/dag-runs/filters.ts';
import { databaseOf, requirePermission } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { maskFor } from '../../http/masked-fields.ts';
import type { Services } from '../services.ts';

/** Each found run is masked and searched again, so their number is limited. */
const MOST_FOUND = 5_000;
const SLICE = 100;

/** Refuses an order by conf without permission, because the order and the cursor would reveal its values. */
export function refuseConfOrder(request: FastifyRequest, keys: readonly string[] | undefined): void {
  if (keys?.some((key) => key.replace(/^-/, '') === 'conf')) requirePermission(request, 'write:dag_run');
}

/** Returns the filter without runs that match only in hidden parts of their conf. */
export async function asSeenBy(
  request: FastifyRequest,
  { db, readerMasks }: Pick<Services, 'db' | 'readerMasks'>,
  filter: RunFilter,
): Promise<RunFilter> {
  const { confContains } = filter;
  const mask = confContains === undefined ? undefined : await maskFor(request, readerMasks, 'write:dag_run');
  if (confContains === undefined || !mask) return filter;
  const scope = databaseOf(request, db);
  const found = await findConfs(scope, filter, MOST_FOUND + 1);
  if (found.length > MOST_FOUND) {
    throw new ApiError(
      'invalid_request',
      `conf_contains finds more than ${MOST_FOUND} runs: search for more of it, or add another filter`,
    );
  }
  const changed: ConfOfRun[] = [];
  for (const [index, { id, conf }] of found.entries()) {
    const shown = await mask(conf);
    if (shown !== conf) changed.push({ id, conf: shown });
    if (index % SLICE === SLICE - 1) await nextTurn();
  }
  const still = await matchingConfs(scope, changed, confContains);
  return { ...filter, exceptIds: changed.map(({ id }) => id).filter((id) => !still.has(id)) };
}
