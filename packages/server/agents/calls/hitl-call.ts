/** ask_person: a task asks, or looks for the answer. */
import type { Database } from '../../db/database.ts';
import { answerQuestion, askOnce } from '../../db/task-instances/hitl.ts';
import type { NewQuestion, Question } from '../../db/task-instances/hitl.ts';
import type { Person, QuestionParam } from '../../db/schema.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallContext, CallMethod, Params } from './call-context.ts';

/** A question is read by people. */
const MAX_TEXT = 100_000;
const MAX_OPTIONS = 1_000;

/**
 * `{"kind": "waiting", "until", "is_new"}`, `{"kind": "answered", "answer"}` or `{"kind": "expired"}`: time is up and there
 * are no defaults. Defaults become the answer here, when the task looks for it.
 */
export function questionCall({ db }: { db: Database }): CallMethod {
  return async (context) => {
    const key = keyOf(context);
    const asked = await askOnce(db.shared, key, readQuestion(context));
    const { question, isNew, isExpired } = asked;
    if (question.responded_at !== null) return answered(question);
    if (!isExpired) return told({ kind: 'waiting', until: question.expires_at, is_new: isNew });
    if (question.defaults === null) return told({ kind: 'expired' });
    const values = Object.entries(question.params).map(([name, { value }]) => [name, value]);
    const answer = { by: null, chosenOptions: question.defaults, paramsInput: Object.fromEntries(values) };
    const closed = await answerQuestion(db.shared, key, answer);
    return answered(closed ?? (await askOnce(db.shared, key, readQuestion(context))).question);
  };
}

const told = (value: object): { json: string } => ({ json: JSON.stringify(value) });

const answered = (question: Question): { json: string } =>
  told({
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

function keyOf({ identity }: CallContext) {
  if (identity.kind !== 'task') throw new RpcError('invalid', 'a callback cannot ask people');
  const { tenantId, run, taskId, mapIndex, tryNumber } = identity;
  return { tenantId, run, taskId, mapIndex, tryNumber };
}

function readQuestion({ identity, params }: CallContext): NewQuestion {
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

function readForm(params: Params): Record<string, QuestionParam> {
  const form = params.optionalObject('params') ?? {};
  if (JSON.stringify(form).includes(String.raw`\u0000`)) {
    throw new RpcError('invalid', 'params of a question must not contain U+0000');
  }
  return Object.fromEntries(
    Object.entries(form).map(([name, given]) => {
      const { value = null, description = null, schema = {} } = given as Partial<QuestionParam>;
      return [name, { value, description, schema }];
    }),
  );
}

function readPersons(params: Params): Person[] {
  const { users = [] } = { users: params.optionalObject('assigned_users')?.['users'] };
  if (!Array.isArray(users)) throw new RpcError('invalid', 'assigned_users must be a list');
  return users.map((user: Partial<Person>) => {
    if (typeof user.id !== 'string') throw new RpcError('invalid', 'an assigned user needs an id');
    return { id: user.id, name: typeof user.name === 'string' ? user.name : user.id };
  });
}
