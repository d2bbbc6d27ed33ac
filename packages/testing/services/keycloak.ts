/**
 * Keycloak, from Maven, prepared once into the cache: its own start-up build takes half a minute, a start some 15 seconds. A
 * realm of its own is imported at every start; its data live in a directory that goes with it.
 */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { eventually } from '../eventually.ts';
import { CACHE } from '../paths.ts';
import { freePort } from './free-port.ts';
import { loopbackCertificate } from './loopback-https.ts';

const VERSION = '26.4.7';
const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';
const START_MS = 600_000; // 15 s, and minutes on a machine that does ten things at once

const run = promisify(execFile);

/** Its folder in the cache, which is made first when it is missing. */
export async function prepareKeycloak(): Promise<string> {
  const prepared = join(CACHE, `keycloak-${VERSION}`);
  if (existsSync(prepared)) return prepared;
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(CACHE, 'keycloak-making-'));
  try {
    const artifact = `-Dartifact=org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
    await run('mvn', ['-q', '-B', PLUGIN, artifact, `-DoutputDirectory=${directory}`]);
    await run('unzip', ['-q', join(directory, `keycloak-quarkus-dist-${VERSION}.zip`), '-d', directory]);
    const made = join(directory, `keycloak-${VERSION}`);
    await run(join(made, 'bin', 'kc.sh'), ['build', '--db=dev-file']);
    await rename(made, prepared).catch((error: unknown) => {
      if (!existsSync(prepared)) throw error; // somebody else was faster
    });
    return prepared;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export type Keycloak = Awaited<ReturnType<typeof startKeycloak>>;

export async function startKeycloak(input: { realm: { realm: string } & Record<string, unknown> }) {
  const prepared = await prepareKeycloak();
  const directory = await mkdtemp(join(tmpdir(), 'svc-keycloak-'));
  await cp(prepared, directory, { recursive: true });
  const { key, cert } = loopbackCertificate();
  await mkdir(join(directory, 'data', 'import'), { recursive: true });
  await writeFile(join(directory, 'data', 'import', 'realm.json'), JSON.stringify(input.realm));
  await writeFile(join(directory, 'key.pem'), key);
  await writeFile(join(directory, 'cert.pem'), cert);
  const [port, management] = [await freePort(), await freePort()];
  const log = join(directory, 'keycloak.log');
  const child = spawn(
    join(directory, 'bin', 'kc.sh'),
    [
      'start',
      '--optimized',
      '--import-realm',
      `--hostname=https://localhost:${port}`,
      '--http-host=127.0.0.1',
      `--https-port=${port}`,
      `--http-management-port=${management}`,
      `--https-certificate-file=${join(directory, 'cert.pem')}`,
      `--https-certificate-key-file=${join(directory, 'key.pem')}`,
      '--cache=local',
      '--log=file',
      `--log-file=${log}`,
    ],
    { stdio: 'ignore', env: { ...process.env, JAVA_OPTS_APPEND: '-Xmx512m' } },
  );
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const forget = endsWithThisProcess({ directory, pids: child.pid === undefined ? [] : [child.pid] });
  const issuer = `https://localhost:${port}/realms/${input.realm.realm}`;
  try {
    await eventually(
      async () => {
        if (child.exitCode !== null) throw new Error(`Keycloak ended with ${child.exitCode}`);
        const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
        if (!answer.ok) throw new Error(`Keycloak answers ${answer.status}`);
      },
      { withinMs: START_MS, everyMs: 500 },
    );
  } catch (error) {
    child.kill('SIGTERM'); // its shell hands that on, and nothing else
    await over;
    const said = await readFile(log, 'utf8').catch(() => '');
    throw new Error(`Keycloak did not start: ${said.slice(-2_000)}`, { cause: error });
  }
  return {
    issuer,
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      await over;
      await rm(directory, { recursive: true, force: true });
      forget();
    },
  };
}
