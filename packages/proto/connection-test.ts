/**
 * The test of a connection, as the control plane orders it of `svc-agent test-connection`: the job as JSON on its input, the
 * result as the one line of its output. Hooks are code of providers and of authors, so they run in a process of the agent.
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
  /** Null when the control plane does not know the type: providers in the environment may. */
  hookClass: string | null;
  /** The package that brings the hook. */
  provider: string | null;
  /** The lists of packages that the tenant's DAGs run with; the one with the provider is taken. */
  environments: readonly (readonly string[])[];
  /** What must not be in the result. */
  secrets: readonly string[];
  timeoutMs: number;
};

export type ConnectionTestResult = { status: boolean; message: string };
