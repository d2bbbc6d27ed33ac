const PLACE = /^([^\s:][^:\n]*\.\w+):(\d+): ([\s\S]+)$/;

/** A warning of the Python side and its place: the one its text begins with, or the file it is about. */
export function warningAt(text: string, source: string): { file: string; line: number | null; message: string } {
  const [, file = source, line, message = text] = PLACE.exec(text) ?? [];
  return { file, line: line === undefined ? null : Number(line), message };
}
