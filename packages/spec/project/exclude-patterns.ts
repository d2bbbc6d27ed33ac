// `exclude_paths` as lines of an ignore file:
//
//   a plain name p              p, **/p, p/**, **/p/**     a directory or file of that name anywhere, with its content
//   last segment has a glob     p, **/p                    matches files, which have no content below them
//   contains a slash            p, p/**                    one path, with its content
//   begins with ! or #          dropped                    it would re-include files, or be a comment

export const DEFAULT_EXCLUDE_PATHS = ['.git', '__pycache__', '*.pyc', '.venv', 'venv'];

export function excludePatterns(entries: readonly string[]): string[] {
  return [...new Set(entries.flatMap(expand))];
}

function expand(entry: string): string[] {
  if (/^\s*([!#]|$)/.test(entry)) return [];
  const path = entry.trim().replace(/\/+$/, '');
  const lastSegment = path.slice(path.lastIndexOf('/') + 1);
  if (/[*?[]/.test(lastSegment)) return [path, `**/${path}`];
  if (entry.includes('/')) return [path, `${path}/**`];
  return [path, `**/${path}`, `${path}/**`, `**/${path}/**`];
}
