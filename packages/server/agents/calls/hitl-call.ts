/** ask_person, the call of human-in-the-loop (hitl) tasks: asks people, or looks for their response. */
import type { Database } from '../../db/database.ts';
import { answerHitlRequest, askOnce } from '../../db/task-instances/hitl.ts';
import type { NewHitlRequest, HitlRequest } from '../../db/task-instances/hitl.ts';
import type { Person, HitlParam } from '../../db/schema.ts';
import { RpcError } from '../rpc-errors.ts';
import { isObject } from './call-context.ts';
import type { CallContext, CallMethod, Params } from './call-context.ts';

/** People read the question. */
const MAX_TEXT = 100_000;
const MAX_OPTIONS = 1_000;

/**
 * Returns `{"kind": "waiting", "until", "is_new"}`, `{"kind": "answered", "answer"}` or `{"kind": "expired"}`. The last
 * means that the time is up and there are no defaults. Defaults become the answer when the task looks for it.
 */
export function hitlCall({ db }: { db: Database }): CallMethod {
  return async (context) => {
    const key = hitlKeyOf(context);
    const asked = await askOnce(db.shared, key, readHitlRequest(context));
    const { question, isNew, isExpired } = asked;
    if (question.responded_at !== null) return responded(question);
    if (!isExpired) return reply({ kind: 'waiting', until: question.expires_at, is_new: isNew });
    if (question.defaults === null) return reply({ kind: 'expired' });
    const values = Object.entries(question.params).map(([name, { value }]) => [name, value]);
    const answer = { by: null, chosenOptions: question.defaults, paramsInput: Object.fromEntries(values) };
    const closed = await answerHitlRequest(db.shared, key, answer);
    return responded(closed ?? (await askOnce(db.shared, key, readHitlRequest(context))).question);
  };
}

const reply = (value: object): { json: string } => ({ json: JSON.stringify(value) });

const responded = (question: HitlRequest): { json: string } =>
  reply({
    kind: 'answered',
    answer: {
      chosen_options: question.chosen_options,
      params_input: question.params_input,
      responded_at: question.responded_at,
      responded_by_user:
        question.responded_by_id === null
          ? null
          : { id: question.responded_by_id, name: question.responded_by_name ?? question.responded_by_id },
    },
  });

function hitlKeyOf({ identity }: CallContext) {
  if (identity.kind !== 'task') throw new RpcError('invalid', 'a callback cannot ask people');
  const { tenantId, run, taskId, mapIndex, tryNumber } = identity;
  return { tenantId, run, taskId, mapIndex, tryNumber };
}

function readHitlRequest({ identity, params }: CallContext): NewHitlRequest {
  const options = params.optionalTexts('options') ?? [];
  const defaults = params.optionalTexts('defaults');
  if (options.length === 0 || options.length > MAX_OPTIONS) {
    throw new RpcError('invalid', `a question needs 1 to ${MAX_OPTIONS} options`);
  }
  const texts = [params.text('subject'), params.optionalText('body') ?? '', ...options];
  if (texts.some((text) => text.length > MAX_TEXT)) {
    throw new RpcError('too_large', `a text of the question has more than ${MAX_TEXT} characters: shorten it`);
  }
  return {
    dagId: identity.dagId,
    subject: params.text('subject'),
    body: params.optionalText('body') ?? null,
    options,
    defaults: defaults?.length ? defaults : null,
    multiple: params.flag('multiple'),
    params: readForm(params),
    assignedUsers: readPersons(params),
    timeout: params.optionalInteger('timeout') ?? null,
  };
}

function readForm(params: Params): Record<string, HitlParam> {
  const form = params.optionalObject('params') ?? {};
  return Object.fromEntries(
    Object.entries(form).map(([name, given]) => {
      const { value = null, description, schema } = isObject(given) ? given : {};
      const text = typeof description === 'string' ? description : null;
      return [name, { value, description: text, schema: isObject(schema) ? schema : {} }];
    }),
  );
}

function readPersons(params: Params): Person[] {
  const { users = [] } = { users: params.optionalObject('assigned_users')?.['users'] };
  if (!Array.isArray(users)) throw new RpcError('invalid', 'assigned_users must be a list');
  return users.map((user: unknown) => {
    const { id, name } = isObject(user) ? user : {};
    if (typeof id !== 'string') throw new RpcError('invalid', 'an assigned user needs an id');
    return { id, name: typeof name === 'string' ? name : id };
  });
}
