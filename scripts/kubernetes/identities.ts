/**
 * Who is who in the cluster. Everybody has a token of the API server's own list. One certificate, which vouches for
 * itself, serves the API server and the kubelet, and is the API server's identity at the kubelet, which takes no token.
 */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_SERVER, API_SERVICE_ADDRESS, NODE_ADDRESS, NODE_NAME } from './addresses.ts';

const USERS = {
  admin: { name: 'admin', group: 'system:masters' },
  'kube-controller-manager': { name: 'system:kube-controller-manager', group: '' },
  'kube-proxy': { name: 'system:kube-proxy', group: '' },
  'kube-scheduler': { name: 'system:kube-scheduler', group: '' },
  kubelet: { name: `system:node:${NODE_NAME}`, group: 'system:nodes' },
} as const;

export type User = keyof typeof USERS;

export type Identities = {
  readonly certificate: string;
  readonly certificateKey: string;
  /** What service-account tokens are signed with. */
  readonly signingKey: string;
  readonly tokens: string;
  readonly kubeconfig: (user: User) => string;
};

/** Paths of files, which are made in the folder. */
export function makeIdentities(folder: string): Identities {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const identities: Identities = {
    certificate: join(folder, 'cluster.crt'),
    certificateKey: join(folder, 'cluster.key'),
    signingKey: join(folder, 'service-accounts.key'),
    tokens: join(folder, 'tokens.csv'),
    kubeconfig: (user) => join(folder, `${user}.kubeconfig`),
  };
  makeCertificate(identities);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  writeFileSync(identities.signingKey, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const tokens = Object.keys(USERS).map((user) => [user as User, randomBytes(16).toString('hex')] as const);
  const rows = tokens.map(([user, token]) => `${token},${USERS[user].name},${user},"${USERS[user].group}"\n`);
  writeFileSync(identities.tokens, rows.join(''));
  const authority = readFileSync(identities.certificate).toString('base64');
  for (const [user, token] of tokens)
    writeFileSync(identities.kubeconfig(user), kubeconfig({ user, token, authority }));
  return identities;
}

function makeCertificate({ certificate, certificateKey }: Identities): void {
  const addresses = ['127.0.0.1', NODE_ADDRESS, API_SERVICE_ADDRESS].map((address) => `IP:${address}`);
  const names = ['localhost', NODE_NAME, 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const extensions = [
    `subjectAltName=${[...addresses, ...names.map((name) => `DNS:${name}`)].join(',')}`,
    'extendedKeyUsage=serverAuth,clientAuth',
  ];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '30'];
  const subject = ['-subj', '/O=system:masters/CN=kube-apiserver'];
  const files = ['-keyout', certificateKey, '-out', certificate];
  execFileSync('openssl', [...words, ...subject, ...extensions.flatMap((line) => ['-addext', line]), ...files], {
    stdio: 'pipe',
  });
}

/** JSON is YAML. */
function kubeconfig({ user, token, authority }: { user: User; token: string; authority: string }): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: API_SERVER, 'certificate-authority-data': authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
  });
}
