// Original file: agent.proto


/**
 * Folders of a repository, relative to `dags_folder`.
 */
export interface Bundle {
  'dags'?: (string);
  /**
   * On the path of Python, in this order.
   */
  'import_roots'?: (string)[];
  /**
   * Those of them that hold plugins.
   */
  'plugins'?: (string)[];
}

/**
 * Folders of a repository, relative to `dags_folder`.
 */
export interface Bundle__Output {
  'dags': (string);
  /**
   * On the path of Python, in this order.
   */
  'import_roots': (string)[];
  /**
   * Those of them that hold plugins.
   */
  'plugins': (string)[];
}
