import { Option } from 'commander';
import { resolve } from 'node:path';
import { DEFAULT_BASE_REPOSITORY } from '@svc/spec/project/base-images.ts';
import { usageError } from '../cli-error.ts';
import { TOOL_NAMES } from '../build/container-tool.ts';
import type { ToolName } from '../build/container-tool.ts';
import { BASE_REPOSITORY_VARIABLE, baseRepositoryOf } from '../build/base-repository.ts';
import type { BaseRepositoryOption } from '../build/base-repository.ts';
import { connect, withServerOption } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import type { CompiledArtifact } from '../projects/artifact-files.ts';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { VALUES_OPTION } from '../projects/values.ts';
import type { ValuesOption } from '../projects/values.ts';
import type { SvcCommand } from '../svc-command.ts';

type BuildCommandOptions = BaseRepositoryOption & { builder?: ToolName };
type Options = ClientCommandOptions &
  BuildCommandOptions &
  ValuesOption & { output: string; build?: true; push?: true };
type Written = Omit<CompiledArtifact, 'text'> & { file: string | null };

const STDOUT = '-';

export function addCompileCommand(program: SvcCommand, context: CliContext): void {
  const compile = program
    .command('compile')
    .description('Compile DAGs to specs, the files a control plane runs; the same input gives the same bytes')
    .argument('[path]', 'project, Airflow repository, directory of projects, folder of DAG files, or one DAG file', '.')
    .option(
      '-o, --output <directory>',
      'where <dag_id>.spec.json is written; "-" prints the specs, one per line',
      'build',
    )
    .option('--json', 'print a JSON summary instead of a table')
    .option(...VALUES_OPTION)
    .option('--build', 'build the images of projects as well')
    .option('--push', 'build the images and push them to registry.url')
    .addOption(builderOption())
    .addOption(baseRepositoryOption());
  withServerOption(compile)
    .note('A control plane is needed only for --build with registry.tag_strategy "version": it knows the next number.')
    .example('everything below this directory', 'svc compile')
    .example('one spec, to look at', 'svc compile daily_sales -o - | jq .tasks')
    .action((path: string, options: Options) => compileCommand(context, path, options));
}

export const builderOption = (): Option =>
  new Option('--builder <tool>', 'container tool to build with (default: the first that works)').choices(TOOL_NAMES);

export const baseRepositoryOption = (): Option =>
  new Option(
    '--base-repository <repository>',
    `where the base images are (default: ${BASE_REPOSITORY_VARIABLE}, then "${DEFAULT_BASE_REPOSITORY}")`,
  );

async function compileCommand(context: CliContext, path: string, options: Options): Promise<void> {
  if (options.json && options.output === STDOUT) throw usageError('--json and "-o -" both want standard output');
  const [{ compilePath }, report, files] = await Promise.all([
    import('../projects/compile-path.ts'),
    import('../projects/report-units.ts'),
    import('../projects/artifact-files.ts'),
  ]);
  const units = await compilePath(context, path, options);
  const artifacts = files.artifactsOf(units);
  const directory = resolve(options.output);
  const written = artifacts.map(({ text, ...rest }): Written => {
    if (options.output !== STDOUT) return { ...rest, file: files.writeArtifact(directory, { ...rest, text }) };
    context.stdout.write(`${text}\n`);
    return { ...rest, file: null };
  });
  const isBuilding = options.build === true || options.push === true;
  const images = isBuilding ? await buildImages(context, units, options) : undefined;
  if (options.json) {
    printJson(context, { dags: written, units: units.map(report.unitJson), ...(images && { images }) });
  } else {
    report.printProblems(context, units);
    if (options.output !== STDOUT) printSummary(context, written);
    for (const { image, digest } of images ?? []) {
      context.stdout.write(digest === null ? `Built ${image}\n` : `Pushed ${image} (${digest})\n`);
    }
  }
  if (report.failedOf(units).length > 0) throw report.problemsError(units);
}

function printSummary(context: CliContext, written: readonly Written[]): void {
  if (written.length === 0) return;
  printTable(context.stdout, {
    columns: [
      { title: 'DAG', value: (row) => row.dag_id },
      { title: 'TASKS', value: (row) => String(row.tasks), align: 'right' },
      { title: 'SCHEDULE', value: (row) => row.schedule ?? '-' },
      { title: 'SHA256', value: (row) => row.sha256.slice(0, 12) },
      { title: 'SIZE', value: (row) => sizeText(row.bytes), align: 'right' },
      { title: 'TIME', value: (row) => `${Math.round(row.seconds * 1_000)} ms`, align: 'right' },
      { title: 'FILE', value: (row) => row.file ?? '' },
    ],
    rows: written,
  });
}

const KIB = 1_024;
const sizeText = (bytes: number): string =>
  bytes < KIB
    ? `${bytes} B`
    : bytes < KIB * KIB
      ? `${(bytes / KIB).toFixed(1)} KiB`
      : `${(bytes / KIB / KIB).toFixed(1)} MiB`;

type Image = { name: string; image: string; digest: string | null };

/** Builds images sequentially, because builds share the machine's container tool and its output is shown live. */
async function buildImages(context: CliContext, units: readonly CompiledUnit[], options: Options): Promise<Image[]> {
  const [{ buildProject, isProject }, { nextVersionOf }] = await Promise.all([
    import('../projects/build-project.ts'),
    import('../projects/http-registrar.ts'),
  ]);
  const images: Image[] = [];
  const built = new Set<string>();
  for (const unit of units.filter(isProject)) {
    const home = unit.unit.repository?.root;
    if (home !== undefined && built.has(home)) continue; // one image serves the whole repository
    if (home !== undefined) built.add(home);
    const { image, digest, warnings } = await buildProject(context, unit, {
      push: options.push === true,
      builder: options.builder,
      baseRepository: baseRepositoryOf(context.env, options),
      nextVersion: async (dagId) => nextVersionOf(await connect(context, options), dagId),
      onLine: (line) => void context.stderr.write(`${line}\n`),
    });
    for (const warning of warnings) warn(context, `${unit.unit.name}: ${warning}`);
    images.push({ name: unit.unit.name, image, digest });
  }
  return images;
}
