// The button that clears the right tasks: it first shows which ones would run again.
/** @import { Instances } from './answers.d.ts' */
import { element } from '../editor/dom.js';
import { actionButton, announce, call } from './frame.js';
import { counted } from './parts.js';

const MOST_NAMED = 20;

/** @typedef {{ dagId: string, runId: string, task?: { id: string, mapIndex: number } }} What */

/**
 * Everything that failed in a run, or one task with what it blocks.
 * @param {What} what
 * @param {boolean} isDryRun
 */
const bodyOf = ({ runId, task }, isDryRun) => ({
  dag_run_id: runId,
  only_failed: true,
  dry_run: isDryRun,
  ...(task && { task_ids: [task.mapIndex < 0 ? task.id : [task.id, task.mapIndex]], include_downstream: true }),
});

/**
 * @param {What} what
 * @param {() => void} onCleared
 */
export function clearControl(what, onCleared) {
  const place = element('div', { className: 'row' });
  const path = `api/v2/dags/${encodeURIComponent(what.dagId)}/clearTaskInstances`;
  /** @param {boolean} isDryRun @returns {Promise<Instances>} */
  const clear = (isDryRun) => call('POST', path, bodyOf(what, isDryRun));
  const text = what.task ? 'Clear this task and what it blocks…' : 'Clear failed and blocked tasks…';
  const offer = actionButton(text, ask, { key: 'clear', isMain: true });
  place.append(offer);
  place.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && place.dataset['asking']) back();
  });

  async function ask() {
    place.dataset['asking'] = 'true';
    /** @type {Instances} */
    const { task_instances: instances, total_entries: total } = await clear(true).catch((error) => {
      back();
      throw error;
    });
    if (total === 0) {
      back();
      return announce('There is nothing to clear: none of these tasks failed.');
    }
    const names = instances.map(({ task_id: id, map_index: index }) => (index < 0 ? id : `${id}[${index}]`));
    const more = total > MOST_NAMED ? ` and ${total - MOST_NAMED} more` : '';
    const confirm = actionButton(`Clear ${counted(total, 'task')}`, finish, { isMain: true });
    place.replaceChildren(
      element('p', { textContent: `These run again: ${names.slice(0, MOST_NAMED).join(', ')}${more}.` }),
      confirm,
      actionButton('Cancel', back),
    );
    confirm.focus();
  }

  async function finish() {
    const { total_entries: total } = await clear(false);
    announce(`${counted(total, 'task')} cleared. ${total === 1 ? 'It runs' : 'They run'} again.`);
    back();
    onCleared();
  }

  function back() {
    delete place.dataset['asking'];
    place.replaceChildren(offer);
    offer.focus();
  }

  return place;
}

/** True while a question is open. The page then does not change under the reader. */
export const isAsking = () => document.querySelector('[data-asking]') !== null;
