// The open files: one model each, with what is known of the file on disk.
import { Failure, api } from './api.js';
import { languageOf } from './monaco.js';

/** With its byte order mark, if it has one. */
const textOf = (model) => model.getValue(undefined, true);
const isDirty = (buffer) => buffer.model.getAlternativeVersionId() !== buffer.savedVersion;

/** Takes over what is on disk, as one step that can be undone. */
function replace(buffer, { content, etag }) {
  const { model } = buffer;
  if (textOf(model) !== content) {
    model.pushStackElement();
    model.pushEditOperations(
      [],
      [{ range: model.getFullModelRange(), text: content.replace(/^\ufeff/, '') }],
      () => null,
    );
    model.pushStackElement();
  }
  buffer.etag = etag;
  buffer.savedVersion = model.getAlternativeVersionId();
}

export function createBuffers({ monaco, onChange }) {
  /** By path, in the order of the tabs. */
  const buffers = new Map();

  function add({ path, content, etag }) {
    const uri = monaco.Uri.from({ scheme: 'workspace', path: `/${path}` });
    monaco.editor.getModel(uri)?.dispose();
    const model = monaco.editor.createModel(content, languageOf(path), uri);
    model.updateOptions({ tabSize: languageOf(path) === 'python' ? 4 : 2, insertSpaces: true });
    const buffer = { path, model, etag, savedVersion: model.getAlternativeVersionId(), viewState: null };
    model.onDidChangeContent(() => onChange(buffer));
    buffers.set(path, buffer);
    return buffer;
  }

  return {
    all: () => [...buffers.values()],
    get: (path) => buffers.get(path),
    isDirty,
    hasDirty: () => [...buffers.values()].some(isDirty),
    async open(path) {
      const known = buffers.get(path);
      if (known) return known;
      const file = await api.read(path);
      return buffers.get(path) ?? add(file);
    },
    close(path) {
      buffers.get(path)?.model.dispose();
      buffers.delete(path);
    },
    /** Throws a Failure; 412 and 404 mean that the file on disk is not the one that was opened. */
    async save(buffer) {
      const version = buffer.model.getAlternativeVersionId();
      const { etag } = await api.write(buffer.path, textOf(buffer.model), buffer.etag);
      buffer.etag = etag;
      buffer.savedVersion = version;
    },
    /** Whatever is there now, by the will of whoever asked for it. */
    async overwrite(buffer) {
      const current = await api.read(buffer.path).catch((error) => {
        if (error instanceof Failure && error.status === 404) return undefined;
        throw error;
      });
      const version = buffer.model.getAlternativeVersionId();
      const text = textOf(buffer.model);
      const { etag } = await (current ? api.write(buffer.path, text, current.etag) : api.create(buffer.path, text));
      buffer.etag = etag;
      buffer.savedVersion = version;
    },
    async load(buffer) {
      replace(buffer, await api.read(buffer.path));
    },
    /** Says 'changed' when the disk has something else than was opened, and there are changes here too. */
    async refresh(buffer) {
      const file = await api.read(buffer.path).catch((error) => {
        if (error instanceof Failure && error.status === 404) return undefined;
        throw error;
      });
      if (file === undefined) return 'gone';
      if (file.etag === buffer.etag) return 'same';
      if (isDirty(buffer)) return 'changed';
      replace(buffer, file);
      return 'loaded';
    },
    /** After a file or folder got another name; the text, its changes and its place among the tabs stay. */
    rename(from, to) {
      const before = [...buffers.values()];
      buffers.clear();
      for (const buffer of before) {
        const isConcerned = buffer.path === from || buffer.path.startsWith(`${from}/`);
        if (!isConcerned) {
          buffers.set(buffer.path, buffer);
          continue;
        }
        const path = to + buffer.path.slice(from.length);
        const dirty = isDirty(buffer);
        const moved = add({ path, content: textOf(buffer.model), etag: buffer.etag });
        if (dirty) moved.savedVersion = -1;
        buffer.model.dispose();
      }
    },
  };
}
