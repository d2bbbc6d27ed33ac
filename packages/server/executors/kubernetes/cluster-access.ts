/**
 * Finds the API server and the credentials for it: the service account of our own pod, or a kubeconfig.
 *
 *   KUBECONFIG, or ~/.kube/config    on a machine of an operator
 *   /var/run/secrets/…               in a pod: the token is a file that the kubelet renews
 *
 * `@kubernetes/client-node` could read these too, but it would take much memory and startup time for the eight kinds of
 * requests that a control plane needs. Only its types are used.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

export type ClusterAccess = {
  /** `https://host:port`, without a trailing path. */
  server: string;
  tls: {
    ca?: string | Buffer;
    cert?: string | Buffer;
    key?: string | Buffer;
    servername?: string;
    rejectUnauthorized: boolean;
  };
  /**
   * Called for each request, because tokens are renewed. Returns an empty text when the certificate is the credential.
   */
  bearer: () => Promise<string>;
  /** For people: where this was read. */
  origin: string;
};

/** A message for people: what is missing and what to do. */
export class ClusterAccessError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The kubelet writes a new token long before the old one expires. */
const TOKEN_KEPT_MS = 60_000;

export function readClusterAccess(env: Environment, folder = SERVICE_ACCOUNT): ClusterAccess {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const file = kubeconfigFile(env);
  if (file === undefined && host && existsSync(join(folder, 'token'))) {
    return inCluster(host, env['KUBERNETES_SERVICE_PORT'] ?? '443', folder);
  }
  if (file !== undefined) return readKubeconfig(file);
  throw new ClusterAccessError(
    'executor.type is orchestrator, and no cluster is known: run svc in a pod (with a service account), or set KUBECONFIG to a kubeconfig file; or set SVC_EXECUTOR_TYPE=subprocess to run tasks on this machine',
  );
}

/** A file named by KUBECONFIG must exist. The default file need not. */
function kubeconfigFile(env: Environment): string | undefined {
  const named = env['KUBECONFIG'];
  if (named) {
    if (existsSync(named)) return named;
    throw new ClusterAccessError(`KUBECONFIG is ${named}, which does not exist: name a kubeconfig file, or unset it`);
  }
  const usual = join(env['HOME'] ?? homedir(), '.kube', 'config');
  return existsSync(usual) ? usual : undefined;
}

function inCluster(host: string, port: string, folder: string): ClusterAccess {
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: { ca: readFileSync(join(folder, 'ca.crt')), rejectUnauthorized: true },
    bearer: keptFor(TOKEN_KEPT_MS, async () => readFileSync(join(folder, 'token'), 'utf8').trim()),
    origin: 'the service account of this pod',
  };
}

type NamedCluster = {
  name: string;
  cluster: {
    server?: string;
    'certificate-authority'?: string;
    'certificate-authority-data'?: string;
    'insecure-skip-tls-verify'?: boolean;
    'tls-server-name'?: string;
  };
};
type ExecPlugin = {
  apiVersion?: string;
  command: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
};
type NamedUser = {
  name: string;
  user: {
    token?: string;
    tokenFile?: string;
    'client-certificate'?: string;
    'client-certificate-data'?: string;
    'client-key'?: string;
    'client-key-data'?: string;
    exec?: ExecPlugin;
  };
};
type Kubeconfig = {
  'current-context'?: string;
  contexts?: { name: string; context: { cluster: string; user: string } }[];
  clusters?: NamedCluster[];
  users?: NamedUser[];
};

function readKubeconfig(file: string): ClusterAccess {
  const config = (parse(readFileSync(file, 'utf8')) ?? {}) as Kubeconfig;
  const missing = (what: string): never => {
    throw new ClusterAccessError(`${file} names ${what}: choose a context with "kubectl config use-context"`);
  };
  const current = config['current-context'];
  const context = config.contexts?.find(({ name }) => name === current)?.context ?? missing('no current context');
  const cluster = config.clusters?.find(({ name }) => name === context.cluster)?.cluster;
  const user = config.users?.find(({ name }) => name === context.user)?.user ?? {};
  if (!cluster?.server) return missing(`no server for its cluster ${JSON.stringify(context.cluster)}`);
  const read = (data: string | undefined, path: string | undefined): Buffer | undefined => {
    if (data) return Buffer.from(data, 'base64');
    return path ? readFileSync(resolve(dirname(file), path)) : undefined;
  };
  const ca = read(cluster['certificate-authority-data'], cluster['certificate-authority']);
  const cert = read(user['client-certificate-data'], user['client-certificate']);
  const key = read(user['client-key-data'], user['client-key']);
  return {
    server: cluster.server.replace(/\/+$/, ''),
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(cluster['tls-server-name'] && { servername: cluster['tls-server-name'] }),
      rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
    },
    bearer: bearerOf(user, file),
    origin: `${file}, context ${current}`,
  };
}

function bearerOf(user: NamedUser['user'], file: string): () => Promise<string> {
  const { token = '', tokenFile, exec } = user;
  if (tokenFile) {
    const path = resolve(dirname(file), tokenFile);
    return keptFor(TOKEN_KEPT_MS, async () => readFileSync(path, 'utf8').trim());
  }
  return exec ? keptFor(TOKEN_KEPT_MS, () => askPlugin(exec)) : async () => token;
}

/** Runs a program of the cloud that prints a short-lived token (client.authentication.k8s.io). */
async function askPlugin({ apiVersion, command, args, env }: ExecPlugin): Promise<string> {
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const more = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const { stdout } = await promisify(execFile)(command, args ?? [], {
    env: { ...process.env, ...more, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    timeout: 60_000,
  });
  const { status } = JSON.parse(stdout) as { status?: { token?: string } };
  if (status?.token) return status.token;
  throw new ClusterAccessError(`${command} printed no token: svc understands plugins that give a token only`);
}

function keptFor<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let kept: { at: number; value: Promise<T> } | undefined;
  return () => {
    if (!kept || performance.now() - kept.at > ms) {
      const value = ask();
      kept = { at: performance.now(), value };
      value.catch(() => (kept = undefined));
    }
    return kept.value;
  };
}
