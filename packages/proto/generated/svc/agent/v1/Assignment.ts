// Original file: agent.proto


export interface Assignment {
  'attempt_id'?: (string);
  /**
   * The attempt's credential.
   */
  'token'?: (string);
  /**
   * Names the DAG version among all the worker may meet.
   */
  'version_key'?: (string);
  'dag_id'?: (string);
  'task_id'?: (string);
  'map_index'?: (number);
  'try_number'?: (number);
}

export interface Assignment__Output {
  'attempt_id': (string);
  /**
   * The attempt's credential.
   */
  'token': (string);
  /**
   * Names the DAG version among all the worker may meet.
   */
  'version_key': (string);
  'dag_id': (string);
  'task_id': (string);
  'map_index': (number);
  'try_number': (number);
}
