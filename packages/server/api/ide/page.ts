/** The page of the editor and its assets. They are public; files come from the API with the visitor's session. */
import { editorAssets, monacoFiles, monacoFolder, renderEditor } from '@svc/web/editor.ts';
import type { BundleFile } from '@svc/web/bundle.ts';
import type { Page } from '@svc/web/html.ts';
import { basePath, editionOf } from '../../config/resolved.ts';
import { ApiError } from '../../http/errors.ts';
import { sendFile, sendPage } from '../../http/static-files.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const PUBLIC = { config: { access: 'public' as const }, schema: { hide: true } };

export function registerIdePage(app: App, { config }: Services): void {
  // Read at the first visit, because it has some hundred files and many control planes never use it.
  const monaco = once((): ReadonlyMap<string, BundleFile> | undefined => {
    const folder = monacoFolder(config.ui.monacoDir);
    return folder === undefined ? undefined : monacoFiles(folder);
  });
  const assets = once(editorAssets);
  const page = once((): Page => {
    const files = monaco();
    return renderEditor({
      basePath: basePath(config),
      instanceName: config.ui.instanceName,
      edition: editionOf(config),
      missing: config.ui.workspace === '' ? 'workspace' : files === undefined ? 'monaco' : undefined,
      monaco: files ?? new Map(),
    });
  });

  app.get('/ide', PUBLIC, async (request, reply) => sendPage(request, reply, page()));
  app.get('/ide/static/*', PUBLIC, async (request, reply) => {
    const asset = assets().get((request.params as { '*': string })['*']);
    if (!asset) throw new ApiError('not_found', 'the editor has no such file');
    return sendPage(request, reply, asset);
  });
  // Not compressed: an editor usually runs on the same machine, where compression takes longer than it saves.
  app.get('/ide/monaco/*', { ...PUBLIC, compress: false }, async (request, reply) => {
    const file = monaco()?.get((request.params as { '*': string })['*']);
    if (!file) throw new ApiError('not_found', 'the code editor has no such file');
    return sendFile(request, reply, file);
  });
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
