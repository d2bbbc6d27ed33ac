/** A test of pytest with the inputs of a try. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { RecordedTry, RecordedValue } from './recorded-try.ts';

const RETURN_KEY = 'return_value';

/** Returns the path of the new file in `tests/` of the working copy. */
export function writeReplayTest(
  recorded: RecordedTry,
  { taskId, workingCopy }: { taskId: string; workingCopy: string },
): string {
  const { dag_id: dagId } = recorded.run;
  const name = `${dagId}_${taskId}`.replaceAll(/\W/g, '_');
  const file = join(workingCopy, 'tests', `test_replay_${name}.py`);
  if (existsSync(file))
    throw new CliError(`${file} exists`, { hint: 'remove or rename it, then run the command again' });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, textOf(recorded, { taskId, name, up: relative(dirname(file), workingCopy) || '.' }));
  return file;
}

function textOf(recorded: RecordedTry, { taskId, name, up }: { taskId: string; name: string; up: string }): string {
  const { run, conf, context, startedAt, xcoms, mapIndex, masked } = recorded;
  const given = [
    ...(mapIndex >= 0 ? [`map_index=${mapIndex}`] : []),
    `at=${python(startedAt ?? run.run_after)}`,
    `conf=${python(conf)}`,
    `xcoms={${xcoms.map(entryOf).join(', ')}}`,
    'recorded=RECORDED',
  ];
  const notes = masked.length > 0 ? `\n\nMasked, replace them: ${masked.join(', ')}` : '';
  return `"""Made by svc replay of try ${recorded.tryNumber} in the run ${run.dag_run_id.replaceAll('"', '')}.${notes}\n"""

from pathlib import Path

from airflow.models import DagBag

DAG_FILE = Path(__file__).parent / ${python(join(up, recorded.spec.source.path))}

# What the try had from the control plane: its run, its number, the events that started the run.
RECORDED = ${dictOf({ ...context, params: null, limits: null })}


def test_replay_${name}(run_task):
    bag = DagBag(DAG_FILE)
    assert bag.import_errors == {}
    result = run_task(
        bag.get_dag(${python(run.dag_id)}).get_task(${python(taskId)}),
        ${given.join(',\n        ')},
    )
    assert result.succeeded
`;
}

/** Of a mapped task: a list with the value of each instance. */
function entryOf({ task_id: id, key, value, instances }: RecordedValue): string {
  const given = instances
    ? Array.from({ length: instances.count }, (_, index) => instances.values[index] ?? null)
    : value;
  return `${key === RETURN_KEY ? python(id) : `(${python(id)}, ${python(key)})`}: ${python(given)}`;
}

/** With one entry in a line. */
const dictOf = (fields: object): string =>
  `{\n${Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `    ${JSON.stringify(key)}: ${python(value)},\n`)
    .join('')}}`;

/** JSON texts and numbers are literals of Python, too. */
function python(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, one]) => `${JSON.stringify(key)}: ${python(one)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}
