/** answer_timetable: a worker reports the answer of the DAG's own timetable. */
import { approximated } from '@svc/spec/exact-json.ts';
import type { AnswerTimetable } from '../collaborators.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallMethod } from './call-context.ts';

export function timetableCall({ answerTimetable }: { answerTimetable: AnswerTimetable }): CallMethod {
  return async ({ identity, params }) => {
    if (identity.run !== 0) throw new RpcError('invalid', 'nobody has asked this attempt about a timetable');
    const problem = params.optionalText('problem') ?? null;
    const answer = approximated(params.optionalObject('answer') ?? null);
    const { tenantId, dagId, attemptId: id } = identity;
    await answerTimetable({ tenantId, dagId, id, answer, problem });
    return { json: 'null' };
  };
}
