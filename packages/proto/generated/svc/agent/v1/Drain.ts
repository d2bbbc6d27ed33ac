// Original file: agent.proto


/**
 * No more attempts: what runs is run to its end and reported, then the worker leaves.
 */
export interface Drain {
  'reason'?: (string);
}

/**
 * No more attempts: what runs is run to its end and reported, then the worker leaves.
 */
export interface Drain__Output {
  'reason': (string);
}
