/** Python lines with a published base image, and the warning for a project on a deprecated line. */

export const PYTHON_LINES = {
  '3.10': { status: 'deprecated', endOfLife: '2026-10-31', publishedUntil: '2026-10-31' },
  '3.11': { status: 'supported', endOfLife: '2027-10-31', publishedUntil: null },
  '3.12': { status: 'supported', endOfLife: '2028-10-31', publishedUntil: null },
  '3.13': { status: 'supported', endOfLife: '2029-10-31', publishedUntil: null },
} as const;

export type PythonLine = keyof typeof PYTHON_LINES;

export const DEFAULT_PYTHON_LINE: PythonLine = '3.11';

/** Returns a warning if the project uses a deprecated line. `base_image` and `python_version` need different fixes. */
export function pythonLineWarning(project: { python_version: PythonLine; base_image?: string }): string | undefined {
  if (project.base_image !== undefined) {
    if (!pinsDeprecatedLine(project.base_image)) return undefined;
    const { publishedUntil } = PYTHON_LINES['3.10'];
    return (
      `base_image ${project.base_image} is pinned to Python 3.10, which is deprecated and was published until ${publishedUntil}. ` +
      'Repoint base_image to the matching 3.11 tag and rebuild; python_version is not consulted while base_image is set.'
    );
  }
  const line = PYTHON_LINES[project.python_version];
  if (line.status !== 'deprecated') return undefined;
  return (
    `python_version ${project.python_version} is deprecated and its base image was published until ${line.publishedUntil}. ` +
    'Set python_version to 3.11 or later and rebuild.'
  );
}

/**
 * True if the tag names Python 3.10, as in `registry/base:3.10`, `python:3.10-slim` and `svc-base:py3.10-0.5`. Longer
 * numbers do not match.
 */
function pinsDeprecatedLine(image: string): boolean {
  const name = image.split('@', 1)[0] ?? '';
  const tag = name.slice(name.lastIndexOf('/') + 1).split(':')[1] ?? '';
  return /(?<![\d.])3\.10(?!\d)/.test(tag);
}
