/**
 * Transformation models of failed tasks (dbt: models, tests, seeds, snapshots): those that the log reports as failed,
 * and those that the definition of the task selects.
 */
export type Model = {
  name: string;
  /** `model`, `test`, `seed`, `snapshot` …; null if only a selection names it. */
  kind: string | null;
  /** The file in the log. */
  path: string | null;
  /** `log`: the log reports it as failed. `definition`: the task selects it. */
  seen_in: 'log' | 'definition';
  task_ids: string[];
};

export type ModelTask = {
  readonly task_id: string;
  readonly operator: { readonly module: string; readonly name: string };
  readonly arguments: Readonly<Record<string, unknown>>;
};

const MAX_MODELS = 50;
const KINDS = 'model|test|unit_test|seed|snapshot|analysis|operation|source|exposure';

/** Messages of dbt about failures. The words around each name exclude ordinary log lines. */
const LOG_PATTERNS: readonly RegExp[] = [
  // Database Error in model stg_orders (models/staging/stg_orders.sql)
  new RegExp(`\\b(?:Error|Failure) in (?<kind>${KINDS}) (?<name>[\\w.-]{1,200})(?: \\((?<path>[\\w./ -]{1,300})\\))?`),
  // 2 of 5 ERROR creating sql table model analytics.stg_orders ......... [ERROR in 0.10s]
  /\b\d+ of \d+ ERROR (?:creating |loading |snapshotting )?(?:sql \w+ |python \w+ )?(?<kind>model|seed file|snapshot) (?<name>[\w.-]{1,200}) \.*/,
  // 3 of 5 FAIL 1 not_null_orders_id ......... [FAIL 1 in 0.05s]
  /\b\d+ of \d+ FAIL \d+ (?<name>[\w.-]{1,200}) \.+/,
];

export function modelsInLog(taskId: string, lines: readonly string[]): Model[] {
  return lines.flatMap((line) => {
    for (const pattern of LOG_PATTERNS) {
      const found = pattern.exec(line)?.groups;
      const { name, kind = 'test', path = null } = found ?? {};
      if (name === undefined) continue;
      const model: Model = {
        name: name.replace(/\.+$/, ''),
        kind: kind === 'seed file' ? 'seed' : kind,
        path: path ?? null,
        seen_in: 'log',
        task_ids: [taskId],
      };
      return [model];
    }
    return [];
  });
}

const ARGUMENT_NAMES = ['model', 'models', 'select', 'model_name', 'dbt_models'];
/** Looked for one after the other, because one expression for both takes quadratic time for many programs in a row. */
const PROGRAM = /\bdbtf?\s/;
const SUBCOMMAND = /\b(?:run|build|test|seed|snapshot|compile)\b/;
const SELECTION =
  /(?:--select|--models?|-s|-m)(?:=|\s+)(?<names>(?:"[^"]*"|'[^']*'|[^\s"'-][^\s"']*)(?:\s+[^\s"'-][^\s"']*)*)/g;
const NAME = /^[\w.:+@*/-]{1,200}$/;

/** Returns the models in the arguments of a dbt operator, or in `--select` of a command. */
export function modelsOfTask(task: ModelTask): Model[] {
  const isDbt = /dbt|cosmos/i.test(`${task.operator.module}.${task.operator.name}`);
  const named = isDbt ? ARGUMENT_NAMES.flatMap((name) => words(task.arguments[name])) : [];
  const commands = Object.values(task.arguments)
    .filter((value) => typeof value === 'string')
    .flatMap((text) => commandsIn(text.slice(0, 4_000)));
  const selected = commands.flatMap((command) =>
    [...command.matchAll(SELECTION)].flatMap((match) => words(match.groups?.['names'] ?? '')),
  );
  return [...new Set([...named, ...selected].map((name) => name.replace(/^(?:fqn|source):/, '')))]
    .filter((name) => NAME.test(name))
    .map((name) => ({ name, kind: null, path: null, seen_in: 'definition', task_ids: [task.task_id] }));
}

const commandsIn = (text: string): string[] =>
  text.split(/[\n;|&]/).flatMap((part) => {
    const at = part.search(PROGRAM);
    return at >= 0 && SUBCOMMAND.test(part.slice(at)) ? [part.slice(at)] : [];
  });

const words = (value: unknown): string[] => {
  if (typeof value === 'string') return value.split(/[\s,"']+/).filter((word) => word !== '');
  return Array.isArray(value) ? value.flatMap((one) => (typeof one === 'string' ? words(one) : [])) : [];
};

/**
 * Returns one entry per model. Entries of the log come first and keep their kind and path, because the definition has
 * less information.
 */
export function mergeModels(models: readonly Model[]): Model[] {
  const merged = new Map<string, Model>();
  for (const model of models.toSorted((a, b) => Number(a.seen_in !== 'log') - Number(b.seen_in !== 'log'))) {
    const known = merged.get(shortName(model.name));
    if (!known) merged.set(shortName(model.name), { ...model });
    else {
      known.task_ids = [...new Set([...known.task_ids, ...model.task_ids])];
      known.kind ??= model.kind;
      known.path ??= model.path;
    }
  }
  return [...merged.values()].slice(0, MAX_MODELS);
}

/** Strips the schema, because dbt prints `schema.model` while it runs and `model` in its summary. */
const shortName = (name: string): string => name.replace(/^[+@]|[+]$/g, '').replace(/^.*\./, '');
