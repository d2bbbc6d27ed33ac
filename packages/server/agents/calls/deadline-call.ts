/**
 * answer_deadline: a worker reports from which moment a deadline of a run counts, because the reference is code of the
 * author. It was asked with a callback (engine/runs/deadlines.ts).
 */
import { momentOf, secondsAfter } from '@svc/spec/clock.ts';
import type { Database } from '../../db/database.ts';
import { REFERENCE_OF } from '../../engine/sql/callbacks.ts';
import { insertDeadlines, wasAskedForReference } from '../../engine/sql/deadlines.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallMethod } from './call-context.ts';

export function deadlineCall({ db }: { db: Database }): CallMethod {
  return async ({ identity, version, params }) => {
    const { tenantId, run, dagId, attemptId } = identity;
    const position = params.optionalInteger('position') ?? -1;
    const alert = version.deadlines[position];
    const at = momentOf(params.text('at'));
    if (!alert || at === undefined)
      throw new RpcError('invalid', 'position must be that of a deadline, and at a moment');
    await db.shared.transaction().execute(async (trx) => {
      const which = `${REFERENCE_OF}${position}`;
      if (!(await wasAskedForReference(trx, { tenantId, run, attemptId, which }))) {
        throw new RpcError('invalid', 'this attempt was not asked for the reference of a deadline');
      }
      const deadline = { position, at: secondsAfter(at, alert.interval), name: alert.name ?? null };
      await insertDeadlines(trx, { tenant_id: tenantId, id: run, dag_id: dagId }, [deadline]);
    });
    return { json: 'null' };
  };
}
