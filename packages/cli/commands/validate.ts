import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { count } from '../output/wording.ts';
import { VALUES_OPTION } from '../projects/values.ts';
import type { ValuesOption } from '../projects/values.ts';
import type { SvcCommand } from '../svc-command.ts';

type Options = ValuesOption & { json?: true };

export function addValidateCommand(program: SvcCommand, context: CliContext): void {
  program
    .command('validate')
    .description('Check DAG projects: svc.yaml, the DAG files, and that every DAG id is used once')
    .argument('[path]', 'project, Airflow repository, directory of projects, folder of DAG files, or one DAG file', '.')
    .option('--json', 'print JSON')
    .option(...VALUES_OPTION)
    .note('Problems are printed as file:line:column: message. Exit code 1 when there are any; warnings alone are 0.')
    .example('everything below this directory', 'svc validate')
    .example('one project', 'svc validate projects/daily_sales')
    .action((path: string, options: Options) => validate(context, path, options));
}

async function validate(context: CliContext, path: string, options: Options): Promise<void> {
  // Loaded on demand, because compiling needs schemas and parsers that no other command needs.
  const [{ compilePath }, report] = await Promise.all([
    import('../projects/compile-path.ts'),
    import('../projects/report-units.ts'),
  ]);
  const units = await compilePath(context, path, options);
  const failed = report.failedOf(units);
  if (options.json) printJson(context, { ok: failed.length === 0, units: units.map(report.unitJson) });
  else report.printProblems(context, units);
  if (failed.length > 0) throw report.problemsError(units);
  if (options.json) return;
  const dags = units.flatMap((unit) => (unit.ok ? unit.artifacts : []));
  const tasks = dags.reduce((sum, { spec }) => sum + spec.tasks.length, 0);
  context.stdout.write(`${count(dags.length, 'DAG')} with ${count(tasks, 'task')}: no problems.\n`);
}
