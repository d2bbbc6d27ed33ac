/**
 * The authority whose certificates the agent trusts, as its file has it now: an agent may live longer than a certificate, and
 * the next connection must be possible with the next one.
 */
import { readFileSync } from 'node:fs';
import { experimental } from '@grpc/grpc-js';
import type { ChannelCredentials } from '@grpc/grpc-js';

type Provider = Parameters<typeof experimental.createCertificateProviderChannelCredentials>[0];
type Listener = Parameters<Provider['addCaCertificateListener']>[0];

const LOOK_EVERY_MS = 5_000;

/** Throws when the file cannot be read to begin with; later, what was read last counts. */
export function trustAuthority(path: string, lookEveryMs = LOOK_EVERY_MS): ChannelCredentials {
  const listeners = new Set<Listener>();
  let caCertificate = readFileSync(path);
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    try {
      const now = readFileSync(path);
      if (now.equals(caCertificate) || now.length === 0) return;
      caCertificate = now;
    } catch {
      return; // it is being replaced
    }
    for (const listener of listeners) listener({ caCertificate });
  }

  return experimental.createCertificateProviderChannelCredentials(
    {
      addCaCertificateListener(listener) {
        listeners.add(listener);
        timer ??= setInterval(look, lookEveryMs).unref();
        listener({ caCertificate });
      },
      removeCaCertificateListener(listener) {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      },
      addIdentityCertificateListener() {},
      removeIdentityCertificateListener() {},
    },
    null,
  );
}
