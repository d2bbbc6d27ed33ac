/** The templates of `svc init`. */
const PYTHON_TEMPLATES = ['hello', 'etl', 'empty'] as const;
export type PythonTemplate = (typeof PYTHON_TEMPLATES)[number];
export const TEMPLATES = [...PYTHON_TEMPLATES, 'dbt'] as const;
export type Template = (typeof TEMPLATES)[number];

/** The content of each file, by its path. */
export type ProjectFiles = Readonly<Record<string, string>>;
