/**
 * `svc setup` fetches in advance what `svc lite` would fetch at its first start. `svc doctor` checks the installation
 * and explains problems.
 */
import { ensurePython } from '@svc/compiler/python-environment.ts';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { UI_VERSIONS } from '@svc/web/bundle.ts';
import { monacoFolder } from '@svc/web/editor.ts';
import { CliError } from '../cli-error.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { styled } from '../output/terminal.ts';
import { runStages } from '../progress.ts';
import { runChecks } from '../setup/checks.ts';
import type { CheckResult } from '../setup/checks.ts';
import { UiBundleError, ensureUiBundle } from '../setup/ui-bundle.ts';
import type { SvcCommand } from '../svc-command.ts';

export function addSetupCommands(program: SvcCommand, context: CliContext): void {
  program
    .command('setup')
    .description('Fetch what is needed to run: the Python environment, the web UI, the editor')
    .note('`svc lite` does the same at its first start. What is there already is left alone.')
    .example('prepare a machine that will have no network', 'svc setup && svc doctor')
    .action(() => setUp(context));
  program
    .command('doctor')
    .description('Check this machine and say what to do about what is missing')
    .option('--json', 'print JSON')
    .action((options: { json?: true }) => examine(context, options));
}

async function setUp(context: CliContext): Promise<void> {
  let python = '';
  try {
    await runStages(context, {
      stages: [
        {
          title: 'Python environment',
          run: async (say) => {
            python = await ensurePython({ env: context.env, say });
            return `Python environment: ${python}`;
          },
        },
        ...UI_VERSIONS.map((version) => ({
          title: `Web UI of Airflow ${version}`,
          run: async (say: (text: string) => void) =>
            `Web UI of Airflow ${version}: ${await ensureUiBundle({ env: context.env, python, version, say })}`,
        })),
        {
          title: 'Editor',
          run: async () =>
            `Editor: ${monacoFolder(context.env['SVC_UI_MONACO_DIR'] ?? '') ?? 'not installed: run `npm ci`'}`,
        },
      ],
    });
  } catch (error) {
    if (error instanceof PythonEnvironmentError) throw new CliError(error.message, { hint: error.hint });
    if (error instanceof UiBundleError) throw new CliError(error.message);
    throw error;
  }
}

const MARKS = { ok: '✔', warning: '!', missing: '✖' } as const;
const COLOURS = { ok: 'green', warning: 'yellow', missing: 'red' } as const;

async function examine(context: CliContext, { json }: { json?: true }): Promise<void> {
  const results = await runChecks(context.env);
  const missing = results.filter(({ status }) => status === 'missing');
  if (json) printJson(context, { checks: results, ok: missing.length === 0 });
  else for (const result of results) context.stdout.write(render(context, result));
  if (missing.length > 0) throw new CliError(`${missing.length} of ${results.length} checks failed`);
}

function render(context: CliContext, { name, status, detail, next }: CheckResult): string {
  const mark = styled(context.stdout, COLOURS[status], MARKS[status]);
  const advice = next === undefined ? '' : `\n  → ${next}`;
  return `${mark} ${name.padEnd(9)} ${detail}${advice}\n`;
}
