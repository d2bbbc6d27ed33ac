// Where the tasks of a DAG file and the tests of a test file are. Texts are read as they are in the editor.

/** @typedef {{ dagId: string, taskIds: readonly string[] }} DagTasks */
/** @typedef {{ line: number, dagId: string, taskId: string | null }} TaskLine */
/** @typedef {{ line: number, test: string | null }} TestLine */

/** @param {string} path */
export const isTestFile = (path) => /(^|\/)(test_[^/]*|[^/]*_test)\.py$/.test(path);

/**
 * The tests of a DAG file are in the folder `tests` next to it, or next to a folder above.
 * @param {string} path
 * @param {readonly string[]} paths all files of the workspace
 * @param {string | null} project the folder of its project, which has all of its tests
 */
export function hasTests(path, paths, project) {
  const folders = path.split('/').slice(0, -1);
  const top = project === null || project === '' ? 0 : project.split('/').length;
  for (let depth = folders.length; depth >= top; depth -= 1) {
    const beginning = [...folders.slice(0, depth), 'tests', ''].join('/');
    const inside = paths.filter((one) => one.startsWith(beginning));
    if (inside.length > 0) return inside.some(isTestFile);
  }
  return false;
}

const DECORATOR = /^\s*@(?:\w+\.)*(?:task|setup|teardown)\b/;
const TASK_ID = /\btask_id\s*=\s*(['"])([^'"]+)\1/;
const FUNCTION = /^\s*(?:async\s+)?def\s+(\w+)/;
/** A decorator or a call with many arguments. */
const LINES_OF_DAG = 20;
const DAG = /^\s*@(?:\w+\.)*dag\b|\bDAG\s*\(/;

/**
 * One line for each name that a task may have been given: by a decorated function, or by `task_id=`.
 * @param {readonly string[]} lines
 * @returns {{ line: number, name: string }[]}
 */
function namedLines(lines) {
  /** @type {{ line: number, name: string }[]} */
  const found = [];
  /** The first decorator above a function. @type {number | undefined} */
  let decorated;
  lines.forEach((text, index) => {
    const line = index + 1;
    if (DECORATOR.test(text)) decorated ??= line;
    const id = TASK_ID.exec(text)?.[2];
    if (id !== undefined) found.push({ line: decorated ?? line, name: id });
    const name = FUNCTION.exec(text)?.[1];
    if (name === undefined) return;
    if (decorated !== undefined) found.push({ line: decorated, name });
    decorated = undefined;
  });
  return found;
}

/** The id without the groups of the task, and without the number of a repeated call. @param {string} taskId */
const bareName = (taskId) => (taskId.split('.').at(-1) ?? '').replace(/__\d+$/, '');

/**
 * The tasks that the compiler has found in a file, at the lines that define them. A task whose id is computed is at the
 * line of its DAG.
 * @param {string} text
 * @param {readonly DagTasks[]} dags
 * @returns {TaskLine[]}
 */
export function taskLines(text, dags) {
  const lines = text.split('\n');
  const named = namedLines(lines);
  return dags.flatMap(({ dagId, taskIds }) => {
    const dagLine = lineOfDag(lines, dagId, dags.length);
    const tasks = taskIds.flatMap((taskId) => {
      const own = named.filter(({ name }) => name === taskId);
      const similar = own.length > 0 ? own : named.filter(({ name }) => name === bareName(taskId));
      const at = new Set(similar.length > 0 ? similar.map(({ line }) => line) : [dagLine]);
      return [...at].map((line) => ({ line, dagId, taskId }));
    });
    return [{ line: dagLine, dagId, taskId: null }, ...tasks];
  });
}

/** @type {(lines: readonly string[], dagId: string, dags: number) => number} */
function lineOfDag(lines, dagId, dags) {
  const starts = lines.flatMap((text, index) => (DAG.test(text) ? [index] : []));
  const [first = 0] = starts;
  if (dags === 1) return first + 1;
  const isNamed = (/** @type {string} */ text) =>
    text.includes(`'${dagId}'`) || text.includes(`"${dagId}"`) || FUNCTION.exec(text)?.[1] === dagId;
  // Of several DAGs, the one that is named before the next one begins.
  const found = starts.find((start, at) =>
    lines.slice(start, Math.min(start + LINES_OF_DAG, starts[at + 1] ?? lines.length)).some(isNamed),
  );
  return (found ?? first) + 1;
}

/**
 * @param {string} text
 * @returns {TestLine[]}
 */
export function testLines(text) {
  /** @type {TestLine[]} */
  const found = [{ line: 1, test: null }];
  /** The class that the next indented function belongs to. */
  let group = '';
  text.split('\n').forEach((line, index) => {
    const [, inClass] = /^class\s+(Test\w*)/.exec(line) ?? [];
    if (inClass !== undefined) {
      group = inClass;
      found.push({ line: index + 1, test: inClass });
    } else if (/^\S/.test(line) && !/^[@#)]/.test(line)) group = '';
    const [, indent = '', name] = /^(\s*)(?:async\s+)?def\s+(test\w*)\s*\(/.exec(line) ?? [];
    if (name === undefined || (indent !== '' && group === '')) return;
    found.push({ line: index + 1, test: indent === '' ? name : `${group}::${name}` });
  });
  return found;
}
