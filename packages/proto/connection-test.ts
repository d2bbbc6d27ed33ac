/**
 * The test of a connection, as the control plane requests it from `svc-agent test-connection`: the job as JSON on its
 * input, the result as the one line of its output. Hooks are code of providers and of authors, so they run in a process
 * of the agent.
 */
export type ConnectionTestJob = {
  connection: {
    conn_type: string;
    host: string | null;
    login: string | null;
    password: string | null;
    schema: string | null;
    port: number | null;
    extra: string | null;
  };
  /** Null when the control plane does not know the type. Providers in the environment may know it. */
  hookClass: string | null;
  /** The package that contains the hook. */
  provider: string | null;
  /** The lists of packages with which the tenant's DAGs run. The one with the provider is used. */
  environments: readonly (readonly string[])[];
  /** Texts that must not be in the result. */
  secrets: readonly string[];
  timeoutMs: number;
};

export type ConnectionTestResult = { status: boolean; message: string };
