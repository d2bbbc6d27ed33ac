// Original file: agent.proto

import type { Module as _svc_agent_v1_Module, Module__Output as _svc_agent_v1_Module__Output } from '../../../svc/agent/v1/Module.ts';
import type { Bundle as _svc_agent_v1_Bundle, Bundle__Output as _svc_agent_v1_Bundle__Output } from '../../../svc/agent/v1/Bundle.ts';

export interface Version {
  'version_key'?: (string);
  'dag_id'?: (string);
  /**
   * The id the DAG file uses.
   */
  'python_dag_id'?: (string);
  /**
   * Folder that paths are relative to; empty when the control plane does not know it.
   */
  'dags_folder'?: (string);
  /**
   * Of the DAG file, relative to the folder.
   */
  'source_path'?: (string);
  'source_module'?: (string);
  'source_text'?: (string);
  'modules'?: (_svc_agent_v1_Module)[];
  'dependencies'?: (string)[];
  'env'?: ({[key: string]: string});
  'version_number'?: (number);
  /**
   * Set when the DAG file belongs to a repository.
   */
  'bundle'?: (_svc_agent_v1_Bundle | null);
  /**
   * Texts that belong to the version and are in no file: graphs of dbt projects, by name.
   */
  'files'?: ({[key: string]: string});
  /**
   * Which provider packages its environment has need not be told again by a container for one attempt.
   */
  'providers_known'?: (boolean);
  /**
   * Its runs have trees: the job names the one to load the version from.
   */
  'has_tree'?: (boolean);
}

export interface Version__Output {
  'version_key': (string);
  'dag_id': (string);
  /**
   * The id the DAG file uses.
   */
  'python_dag_id': (string);
  /**
   * Folder that paths are relative to; empty when the control plane does not know it.
   */
  'dags_folder': (string);
  /**
   * Of the DAG file, relative to the folder.
   */
  'source_path': (string);
  'source_module': (string);
  'source_text': (string);
  'modules': (_svc_agent_v1_Module__Output)[];
  'dependencies': (string)[];
  'env': ({[key: string]: string});
  'version_number': (number);
  /**
   * Set when the DAG file belongs to a repository.
   */
  'bundle': (_svc_agent_v1_Bundle__Output | null);
  /**
   * Texts that belong to the version and are in no file: graphs of dbt projects, by name.
   */
  'files': ({[key: string]: string});
  /**
   * Which provider packages its environment has need not be told again by a container for one attempt.
   */
  'providers_known': (boolean);
  /**
   * Its runs have trees: the job names the one to load the version from.
   */
  'has_tree': (boolean);
}
