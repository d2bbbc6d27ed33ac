// Original file: agent.proto


/**
 * What all attempts of a DAG version are given of their tenant's variables and connections, as of now. A worker keeps it for
 * the attempts of that version and no other.
 */
export interface Secrets {
  /**
   * Of this state, whoever sends it.
   */
  'id'?: (string);
  /**
   * The state that the rest changes, one of those the worker holds; empty when the rest is all of it.
   */
  'base_id'?: (string);
  /**
   * {"env": {name: value}, "unset": [name], "masks": [value], "unmask": [value]}. Empty when the worker holds the state.
   */
  'changes_json'?: (string);
}

/**
 * What all attempts of a DAG version are given of their tenant's variables and connections, as of now. A worker keeps it for
 * the attempts of that version and no other.
 */
export interface Secrets__Output {
  /**
   * Of this state, whoever sends it.
   */
  'id': (string);
  /**
   * The state that the rest changes, one of those the worker holds; empty when the rest is all of it.
   */
  'base_id': (string);
  /**
   * {"env": {name: value}, "unset": [name], "masks": [value], "unmask": [value]}. Empty when the worker holds the state.
   */
  'changes_json': (string);
}
