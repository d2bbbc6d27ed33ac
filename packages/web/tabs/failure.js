// One failure of the page Why: its cause, what it blocks, its history, what to try, and the end of its log.
/** @import { Failure } from './answers.d.ts' */
import { element } from '../editor/dom.js';
import { dagPath, runPath, taskPath, uiLink } from './frame.js';
import { chip, counted, duration, lines, time } from './parts.js';

const MOST_NAMED = 12;

/**
 * @param {{ dagId: string, runId: string }} run
 * @param {Failure} failure
 */
export function failureCard({ dagId, runId }, failure) {
  const { task_id: taskId, map_index: mapIndex, cause, blocks, history, advice, log } = failure;
  const name = mapIndex < 0 ? taskId : `${taskId}[${mapIndex}]`;
  /** @type {[string, (Node | string)[]][]} */
  const facts = [
    ...placeOf(failure),
    ...(blocks && blocks.total > 0 ? [fact('Blocks', `${counted(blocks.total, 'task')}: ${named(blocks)}`)] : []),
    ['Tries', triesOf(failure)],
    ...(history ? [/** @type {[string, (Node | string)[]]} */ (['History', historyOf(dagId, history)])] : []),
  ];
  return element(
    'article',
    { className: 'card', 'aria-label': `Failure of ${name}` },
    element(
      'div',
      { className: 'row' },
      element('h3', {}, uiLink(taskPath(dagId, runId, taskId, mapIndex), name)),
      chip(failure.state ?? 'none'),
    ),
    cause ? element('p', { className: 'meaning', textContent: cause.meaning }) : undefined,
    cause?.detail ? lines([cause.detail], `Cause of ${name}`) : undefined,
    element(
      'dl',
      { className: 'facts' },
      ...facts.flatMap(([term, values]) => [element('dt', { textContent: term }), element('dd', {}, ...values)]),
    ),
    advice.length > 0
      ? element(
          'div',
          {},
          element('strong', { textContent: 'What to try' }),
          element('ul', {}, ...advice.map(({ text }) => element('li', { textContent: text }))),
        )
      : undefined,
    failure.failed_tries.length > 1 ? triesBefore(failure, name) : undefined,
    logOf(log, name),
  );
}

/** @type {(term: string, text: string) => [string, (Node | string)[]]} */
const fact = (term, text) => [term, [text]];

/** @param {NonNullable<Failure['blocks']>} blocks */
const named = ({ total, task_ids: ids }) =>
  `${ids.slice(0, MOST_NAMED).join(', ')}${total > MOST_NAMED ? ` and ${total - MOST_NAMED} more` : ''}`;

/** @param {Failure} failure @returns {[string, (Node | string)[]][]} */
function placeOf({ cause, hostname }) {
  const exception = cause?.exception;
  /** @type {[string, (Node | string)[]][]} */
  const facts = [];
  if (exception && exception.file !== null) {
    const place = `${exception.file}:${exception.line}${exception.function ? ` in ${exception.function}` : ''}`;
    facts.push(['At', [place, exception.code ? element('code', { textContent: ` ${exception.code}` }) : '']]);
  }
  if (cause?.signal || cause?.exit_code) facts.push(fact('Process', cause.signal ?? `exit code ${cause.exit_code}`));
  if (hostname) facts.push(fact('Host', hostname));
  return facts;
}

/** @param {Failure} failure @returns {(Node | string)[]} */
function triesOf(failure) {
  const lost = failure.infrastructure_retries;
  return [
    `${failure.try_number} of ${failure.max_tries + 1}`,
    lost > 0 ? `, ${lost} lost to infrastructure` : '',
    failure.duration === null ? '' : `, the last one took ${duration(failure.duration)}`,
    ...(failure.end_date === null ? [] : [', ended ', time(failure.end_date)]),
    ...(failure.next_try_at === null ? [] : [', next ', time(failure.next_try_at)]),
  ];
}

/** @type {(dagId: string, history: NonNullable<Failure['history']>) => (Node | string)[]} */
function historyOf(dagId, history) {
  const { since_version: since, first_failure: first, last_success: success, same_cause_in: same } = history;
  const author = first.version?.author ? ` by ${first.version.author}` : '';
  const commit = first.version?.bundle_version?.slice(0, 12);
  /** @type {(Node | string)[]} */
  const parts = [];
  if (since !== null) parts.push(`Fails since version ${since}${commit ? ` (commit ${commit}${author})` : ''}. `);
  if (history.failed_before > 0) parts.push(`Failed ${history.failed_before + 1} times in a row. `);
  if (success) parts.push('Last success: ', uiLink(runPath(dagId, success.run_id), success.run_id), '. ');
  else parts.push(history.runs_compared === 0 ? 'This is the first run. ' : 'It has not succeeded lately. ');
  if (same.length > 0) {
    parts.push('The same cause in: ');
    for (const [index, runId] of same.slice(0, 5).entries()) {
      parts.push(index > 0 ? ', ' : '', uiLink(runPath(dagId, runId), runId, `same ${runId}`));
    }
    if (same.length > 5) parts.push(' and ', uiLink(`${dagPath(dagId)}/runs`, `${same.length - 5} more`));
  }
  return parts;
}

/** @type {(failure: Failure, name: string) => HTMLElement} */
const triesBefore = ({ failed_tries: tries }, name) =>
  element(
    'details',
    { dataset: { key: `tries ${name}` } },
    element('summary', { textContent: counted(tries.length, 'failed try', 'failed tries') }),
    element(
      'ul',
      {},
      ...tries.map(({ try_number: number, cause, end_date: end }) =>
        element('li', {}, `Try ${number}: ${cause?.detail ?? cause?.meaning ?? 'no cause is known'}, `, time(end)),
      ),
    ),
  );

/** @type {(log: Failure['log'], name: string) => HTMLElement} */
function logOf({ earlier_errors: errors, lines: last, note }, name) {
  if (last.length === 0) return element('p', { className: 'quiet', textContent: note ?? 'There is no log.' });
  return element(
    'details',
    { dataset: { key: `log ${name}` } },
    element('summary', { textContent: 'Last lines of the log' }),
    lines([...errors, ...(errors.length > 0 ? ['…'] : []), ...last], `Log of ${name}`),
  );
}
