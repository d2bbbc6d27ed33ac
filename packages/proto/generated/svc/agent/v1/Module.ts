// Original file: agent.proto


/**
 * A module of the project that the DAG file imports, as it was when the version was made.
 */
export interface Module {
  'name'?: (string);
  'path'?: (string);
  'sha256'?: (string);
}

/**
 * A module of the project that the DAG file imports, as it was when the version was made.
 */
export interface Module__Output {
  'name': (string);
  'path': (string);
  'sha256': (string);
}
