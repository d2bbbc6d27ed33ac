import { Argument } from 'commander';
import { BASE_REPOSITORY_VARIABLE, baseRepositoryOf } from '../build/base-repository.ts';
import type { ToolName } from '../build/container-tool.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { listenForStop } from '../stop-signal.ts';
import type { SvcCommand } from '../svc-command.ts';
import type { ImageKind } from '../build/own-images.ts';
import { builderOption } from './compile.ts';

type Options = {
  repository?: string;
  controlPlaneRepository?: string;
  line?: string[];
  platform?: string[];
  push?: true;
  builder?: ToolName;
  nodeImage?: string;
  pythonImage?: string;
  source?: string;
  json?: true;
};

const KINDS: readonly ImageKind[] = ['base', 'control-plane'];
const repeated = (value: string, before: string[] = []): string[] => [...before, value];

export function addImagesCommands(program: SvcCommand, context: CliContext): void {
  const images = program.command('images').description("svc's own images, for those who build them themselves");
  images
    .command('build')
    .description('Build the base images that DAG images are built on, and the image of the control plane')
    .addArgument(new Argument('[kinds...]', 'only these').choices(KINDS))
    .option(
      '--repository <repository>',
      `where the base images go (default: ${BASE_REPOSITORY_VARIABLE}, then "svc-base"); each is tagged <Python line>-<version>`,
    )
    .option(
      '--control-plane-repository <repository>',
      'where that of the control plane goes (default: svc-control-plane, beside the base images)',
    )
    .option('--line <version>', 'only this line of Python; may be repeated (default: all that are published)', repeated)
    .option(
      '--platform <platform>',
      "only this platform; may be repeated (default: this machine's; with --push all of a release)",
      repeated,
    )
    .option('--push', 'push them, and print each with its digest')
    .addOption(builderOption())
    .option('--node-image <image>', 'instead of the official image of Node')
    .option('--python-image <image>', 'instead of the official image of Python; with one --line')
    .option('--source <directory>', 'checkout of svc to build from (default: the one this program is in)')
    .option('--json', 'print JSON')
    .note('The control plane finds base images by executor.base_image_repository, "svc deploy" by --base-repository.')
    .example('for this machine', 'svc images build base --line 3.12')
    .example('for everybody', 'svc images build --repository registry.example.com/svc-base --push')
    .action((kinds: ImageKind[], options: Options) => buildImages(context, kinds, options));
}

async function buildImages(context: CliContext, kinds: readonly ImageKind[], options: Options): Promise<void> {
  const { OWN_SOURCE, buildOwnImages, planImages } = await import('../build/own-images.ts');
  const push = options.push === true;
  const plan = planImages({
    kinds: kinds.length === 0 ? KINDS : kinds,
    repository: options.repository ?? baseRepositoryOf(context.env, {}),
    controlPlaneRepository: options.controlPlaneRepository,
    lines: options.line,
    platforms: options.platform,
    push,
    nodeImage: options.nodeImage,
    pythonImage: options.pythonImage,
    today: new Date().toISOString().slice(0, 10),
  });
  const stop = listenForStop();
  const stopping = new AbortController();
  void stop.requested.then(() => stopping.abort(new CliError('interrupted', { exitCode: EXIT.interrupted })));
  try {
    const images = await buildOwnImages({
      plan,
      push,
      source: options.source ?? OWN_SOURCE,
      builder: options.builder,
      env: context.env,
      onLine: (line) => void context.stderr.write(`${line}\n`),
      signal: stopping.signal,
    });
    if (options.json) return printJson(context, { images });
    for (const { image, digest } of images) context.stdout.write(`${digest === null ? image : `${image}@${digest}`}\n`);
  } finally {
    stop.dispose();
  }
}
