// The arguments of each container tool, as lists. It is pure.
//
//              one platform                 several platforms                      digest of what was pushed
//   docker     buildx build --load|--push   the same, with both platforms          --metadata-file
//   podman     build --tag, push            build --manifest, tag, manifest push   --digestfile
//   buildah    as podman                    as podman                              as podman
//
// A value follows the `=` of its flag, or it is an image name, which cannot start with a dash. No value can therefore
// be read as a flag. The context is always `.`.
import type { ToolName } from './container-tool.ts';

export type ImageBuild = {
  /** Repository and tag. */
  readonly image: string;
  readonly platforms: readonly string[];
  /** Relative to the context, in which the command runs. */
  readonly buildFile: string;
  readonly ignoreFile: string;
  /** `--build-arg`s of our own build files. Build files of DAGs have none. */
  readonly buildArguments?: Readonly<Record<string, string>>;
  readonly push: boolean;
  /** A registry on this machine may use plain HTTP. Docker makes the same exception. */
  readonly isLocalRegistry: boolean;
  /** The file into which the tool writes the digest. */
  readonly digestFile: string;
  /** The temporary name of the list of images. It must be new. */
  readonly listName: string;
};

export type ToolCommand = {
  readonly step: 'build' | 'tag' | 'push' | 'tidy';
  readonly arguments: readonly string[];
};

export function buildCommands(tool: ToolName, build: ImageBuild): ToolCommand[] {
  if (tool === 'docker') return [dockerBuild(build)];
  return build.platforms.length > 1 ? listCommands(tool, build) : singleCommands(tool, build);
}

function dockerBuild(build: ImageBuild): ToolCommand {
  return {
    step: 'build',
    arguments: [
      'buildx',
      'build',
      '--progress=plain',
      ...commonFlags(build),
      `--tag=${build.image}`,
      // With provenance, the pushed image becomes a list with an entry for the platform "unknown", which registries and
      // clusters treat differently.
      '--provenance=false',
      `--metadata-file=${build.digestFile}`,
      build.push ? '--push' : '--load',
      '.',
    ],
  };
}

function singleCommands(tool: ToolName, build: ImageBuild): ToolCommand[] {
  return [
    { step: 'build', arguments: [...buildWords(tool, build), `--tag=${build.image}`, '.'] },
    ...pushWhenAsked(build, ['push', ...pushFlags(build), build.image, `docker://${build.image}`]),
  ];
}

/**
 * The list is built under its own name. Adding to a list of an earlier build would keep its images, and a tag of a
 * single image is refused. `manifest rm` of a list with two names removes only the first name.
 */
function listCommands(tool: ToolName, build: ImageBuild): ToolCommand[] {
  return [
    { step: 'build', arguments: [...buildWords(tool, build), `--manifest=${build.listName}`, '.'] },
    { step: 'tag', arguments: ['tag', build.listName, build.image] },
    ...pushWhenAsked(build, [
      'manifest',
      'push',
      '--all',
      ...pushFlags(build),
      build.listName,
      `docker://${build.image}`,
    ]),
    { step: 'tidy', arguments: ['manifest', 'rm', build.listName] },
  ];
}

function buildWords(tool: ToolName, build: ImageBuild): string[] {
  // Only buildah needs a flag to reuse the layers of earlier builds.
  const cache = tool === 'buildah' ? ['--layers'] : [];
  return ['build', ...cache, ...commonFlags(build), `--ignorefile=${build.ignoreFile}`];
}

function commonFlags(build: ImageBuild): string[] {
  const buildArguments = Object.entries(build.buildArguments ?? {}).map(
    ([name, value]) => `--build-arg=${name}=${value}`,
  );
  return [`--file=${build.buildFile}`, `--platform=${build.platforms.join(',')}`, ...buildArguments];
}

const pushFlags = (build: ImageBuild): string[] => [
  `--digestfile=${build.digestFile}`,
  ...(build.isLocalRegistry ? ['--tls-verify=false'] : []),
];

const pushWhenAsked = (build: ImageBuild, words: readonly string[]): ToolCommand[] =>
  build.push ? [{ step: 'push', arguments: words }] : [];

export function loginArguments(
  tool: ToolName,
  login: { registry: string; username: string; isLocalRegistry: boolean },
): string[] {
  const insecure = tool !== 'docker' && login.isLocalRegistry ? ['--tls-verify=false'] : [];
  return ['login', `--username=${login.username}`, '--password-stdin', ...insecure, login.registry];
}

/** Returns the digest of the pushed image from the file that the tool wrote, or undefined. */
export function readDigest(tool: ToolName, text: string): string | undefined {
  const digest = tool === 'docker' ? metadataDigest(text) : text.trim();
  return digest !== undefined && /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : undefined;
}

function metadataDigest(text: string): string | undefined {
  try {
    const metadata = JSON.parse(text) as { 'containerimage.digest'?: unknown };
    const digest = metadata['containerimage.digest'];
    return typeof digest === 'string' ? digest : undefined;
  } catch {
    return undefined;
  }
}
