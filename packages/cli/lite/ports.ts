import { readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename } from 'node:path';

/** Port 0 requests any free port. Returns undefined if listening on the address fails. */
export async function probePort(host: string, port: number): Promise<number | undefined> {
  const found = await tryListening(host, port);
  return typeof found === 'number' ? found : undefined;
}

/** Returns the port, or the error code of the system: EADDRINUSE, EACCES … */
export async function tryListening(host: string, port: number): Promise<number | string> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

/** Returns the wanted port, or any free one if it is in use. Use it for listeners whose port people need not know. */
export async function portOrAnother(host: string, wanted: number): Promise<number> {
  return (await probePort(host, wanted)) ?? (await probePort(host, 0)) ?? 0;
}

/**
 * Returns the previous port if it is free. After lite was killed, its agent still runs tasks and looks for the next
 * control plane at the same port.
 */
export async function portOfLastTime(input: { file: string; host: string; otherwise: number }): Promise<number> {
  const { file, host, otherwise } = input;
  const port = await portOrAnother(host, readPort(file) ?? otherwise);
  writeFileSync(file, `${port}\n`, { mode: 0o600 });
  return port;
}

function readPort(file: string): number | undefined {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  } catch {
    return undefined;
  }
}

/** Returns `process 4711 (postgres)` if the system shows it. Undefined except on Linux. */
export function listenerOn(port: number): string | undefined {
  try {
    const inodes = listeningInodes(port);
    if (inodes.size === 0) return undefined;
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      if (hasSocket(pid, inodes)) return `process ${pid} (${programOf(pid)})`;
    }
  } catch {
    // no /proc, or no permission to read it
  }
  return undefined;
}

/** Returns only the program, because its arguments may contain secrets. */
const programOf = (pid: string): string =>
  basename(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0', 1)[0] ?? '');

const LISTENING = '0A';

function listeningInodes(port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(1));
  const found = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(suffix) && state === LISTENING);
  return new Set(found.map((fields) => `socket:[${fields[9]}]`));
}

function hasSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => inodes.has(readlinkSync(`/proc/${pid}/fd/${fd}`)));
  } catch {
    return false; // the process has ended, or belongs to another user
  }
}
