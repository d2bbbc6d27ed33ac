// The open files: one model each, with what is known of the file on disk.
import { Failure, api } from './api.js';
import { languageOf } from './monaco.js';
/** @import { editor } from 'monaco-editor' */
/** @import { FileContent, Monaco } from '../browser.d.ts' */

/**
 * @typedef {object} Buffer
 * @property {string} path
 * @property {editor.ITextModel} model
 * @property {string} etag of what is on disk, as far as it is known here
 * @property {number} savedVersion the model's when it was like the file; -1 when it never was
 * @property {editor.ICodeEditorViewState | null} viewState where one was, when another file was opened
 */

/** @typedef {ReturnType<typeof createBuffers>} Buffers */

/**
 * With its byte order mark, if it has one.
 * @param {editor.ITextModel} model
 */
const textOf = (model) => model.getValue(undefined, true);
/** @param {Buffer} buffer */
const isDirty = (buffer) => buffer.model.getAlternativeVersionId() !== buffer.savedVersion;

/**
 * Takes over what is on disk, as one step that can be undone.
 * @param {Buffer} buffer
 * @param {FileContent} file
 */
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

/**
 * Undefined where there was nothing to read.
 * @param {string} path
 */
const readIfThere = (path) =>
  api.read(path).catch((/** @type {unknown} */ error) => {
    if (error instanceof Failure && error.status === 404) return undefined;
    throw error;
  });

/** @param {{ monaco: Monaco, onChange: (buffer: Buffer) => void }} input */
export function createBuffers({ monaco, onChange }) {
  /** By path, in the order of the tabs. @type {Map<string, Buffer>} */
  const buffers = new Map();

  /** @param {FileContent} file */
  function add({ path, content, etag }) {
    const uri = monaco.Uri.from({ scheme: 'workspace', path: `/${path}` });
    monaco.editor.getModel(uri)?.dispose();
    const model = monaco.editor.createModel(content, languageOf(path), uri);
    model.updateOptions({ tabSize: languageOf(path) === 'python' ? 4 : 2, insertSpaces: true });
    /** @type {Buffer} */
    const buffer = { path, model, etag, savedVersion: model.getAlternativeVersionId(), viewState: null };
    model.onDidChangeContent(() => onChange(buffer));
    buffers.set(path, buffer);
    return buffer;
  }

  return {
    all: () => [...buffers.values()],
    /** @param {string | undefined} path */
    get: (path) => (path === undefined ? undefined : buffers.get(path)),
    isDirty,
    hasDirty: () => [...buffers.values()].some(isDirty),
    /** @param {string} path */
    async open(path) {
      const known = buffers.get(path);
      if (known) return known;
      const file = await api.read(path);
      return buffers.get(path) ?? add(file);
    },
    /** @param {string} path */
    close(path) {
      buffers.get(path)?.model.dispose();
      buffers.delete(path);
    },
    /**
     * Throws a Failure; 412 and 404 mean that the file on disk is not the one that was opened. False when it has this content already.
     * @param {Buffer} buffer
     */
    async save(buffer) {
      const version = buffer.model.getAlternativeVersionId();
      const { etag } = await api.write(buffer.path, textOf(buffer.model), buffer.etag);
      const isChanged = etag !== buffer.etag;
      buffer.etag = etag;
      buffer.savedVersion = version;
      return isChanged;
    },
    /**
     * Whatever is there now, by the will of whoever asked for it.
     * @param {Buffer} buffer
     */
    async overwrite(buffer) {
      const current = await readIfThere(buffer.path);
      const version = buffer.model.getAlternativeVersionId();
      const text = textOf(buffer.model);
      const { etag } = await (current ? api.write(buffer.path, text, current.etag) : api.create(buffer.path, text));
      buffer.etag = etag;
      buffer.savedVersion = version;
    },
    /** @param {Buffer} buffer */
    async load(buffer) {
      replace(buffer, await api.read(buffer.path));
    },
    /**
     * Says 'changed' when the disk has something else than was opened, and there are changes here too.
     * @param {Buffer} buffer
     */
    async refresh(buffer) {
      const file = await readIfThere(buffer.path);
      if (file === undefined) return 'gone';
      if (file.etag === buffer.etag) return 'same';
      if (isDirty(buffer)) return 'changed';
      replace(buffer, file);
      return 'loaded';
    },
    /**
     * After a file or folder got another name; the text, its changes and its place among the tabs stay.
     * @param {string} from
     * @param {string} to
     */
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
