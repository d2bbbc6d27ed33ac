/** `resources` and `execution` of a task as the artifact contains them, for the executor that creates its pod. */
export type TaskResources = {
  readonly cpu?: string;
  readonly memory?: string;
  readonly ephemeral_storage?: string;
  readonly gpu?: number;
  /** Extended resources of the cluster by name, such as `example.com/fpga`. */
  readonly extended?: Readonly<Record<string, number>>;
};

export type Toleration = {
  key?: string;
  operator?: 'Exists' | 'Equal';
  value?: string;
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  tolerationSeconds?: number;
};

export type TaskExecution = {
  readonly service_account?: string;
  readonly node_selector?: Record<string, string>;
  readonly tolerations?: Toleration[];
  /** The affinity as Kubernetes defines it. */
  readonly affinity?: Record<string, object>;
  readonly priority_class?: string;
  readonly image_pull_secrets?: string[];
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
};
