/**
 * Stores of secrets for tests, and the Python that has the real provider packages for them, as a task's environment would.
 *
 *   node packages/testing/services/secret-stores.ts # prints the path of its interpreter
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { ROOT } from '../paths.ts';
import { virtualEnvironment } from '../virtual-environment.ts';
import { freePort } from './free-port.ts';

const START_TIMEOUT_MS = 240_000;

/** It can also run tasks: SVC_PYTHON. */
export const secretStoresEnvironment = (): Promise<string> =>
  virtualEnvironment({
    name: 'secret-stores',
    requirements: [join(ROOT, 'python', 'requirements.txt'), join(import.meta.dirname, 'secret-stores.txt')],
  });

export type AwsEmulator = Awaited<ReturnType<typeof startAws>>;

/** Secrets Manager and Parameter Store. */
export async function startAws() {
  const python = await secretStoresEnvironment();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
  const giveUp = Date.now() + START_TIMEOUT_MS;
  while (!(await fetch(url).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`moto ended with ${child.exitCode}`);
    if (Date.now() > giveUp) throw new Error(`moto did not answer within ${START_TIMEOUT_MS / 1000} s`);
    await sleep(50);
  }
  const call = async (service: string, target: string, body: object): Promise<void> => {
    const credential = `Credential=test/20260101/${AWS_ENVIRONMENT.AWS_DEFAULT_REGION}/${service}/aws4_request`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'x-amz-target': target,
        'content-type': 'application/x-amz-json-1.1',
        authorization: `AWS4-HMAC-SHA256 ${credential}`,
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${target}: ${answer.status} ${await answer.text()}`);
  };
  return {
    url,
    createSecret: (name: string, text: string) =>
      call('secretsmanager', 'secretsmanager.CreateSecret', {
        Name: name,
        SecretString: text,
        ClientRequestToken: crypto.randomUUID(),
      }),
    putParameter: (name: string, text: string) =>
      call('ssm', 'AmazonSSM.PutParameter', { Name: name, Value: text, Type: 'SecureString' }),
    async stop(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** What a pod's identity would bring. */
export const AWS_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_DEFAULT_REGION: 'eu-west-1',
} as const;

if (import.meta.main) process.stdout.write(`${await secretStoresEnvironment()}\n`);
