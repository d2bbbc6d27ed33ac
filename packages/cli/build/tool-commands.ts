// What each container tool is told, as argument lists. Pure.
//
//              one platform                 several platforms                      digest of what was pushed
//   docker     buildx build --load|--push   the same, with both platforms          --metadata-file
//   podman     build --tag, push            build --manifest, tag, manifest push   --digestfile
//   buildah    as podman                    as podman                              as podman
//
// A value stands behind the `=` of its flag or is an image name, which cannot begin with a dash, so that none can be taken
// for a flag; the context is always `.`.
import type { ToolName } from './container-tool.ts';

export type ImageBuild = {
  /** Repository and tag. */
  readonly image: string;
  readonly platforms: readonly string[];
  /** Relative to the context, where the command runs. */
  readonly buildFile: string;
  readonly ignoreFile: string;
  /** `--build-arg`s of our own build files; a DAG's has none. */
  readonly buildArguments?: Readonly<Record<string, string>>;
  readonly push: boolean;
  /** A registry on this machine, which may speak plain HTTP. Docker makes the same exception by itself. */
  readonly isLocalRegistry: boolean;
  /** Where the tool writes the digest. */
  readonly digestFile: string;
  /** Of the list of images while it is being put together; must be new. */
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
      // With provenance the pushed image becomes a list with an entry for the platform "unknown", which registries and
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
 * The list is put together under a name of its own: adding to a list of an earlier build would keep its images, and a
 * tag that belongs to a single image is refused. `manifest rm` of a list with a second name only takes the first away.
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
  // Only buildah has to be asked to reuse the layers of earlier builds.
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

/** The digest a registry knows the pushed image by, from the file the tool wrote; undefined when it names none. */
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
