/**
 * The authority whose certificates the agent trusts, read again when its file changes. An agent may live longer than a
 * certificate, and its next connection must accept the next one.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { experimental } from '@grpc/grpc-js';
import type { ChannelCredentials, VerifyOptions } from '@grpc/grpc-js';

type Provider = Parameters<typeof experimental.createCertificateProviderChannelCredentials>[0];
type Listener = Parameters<Provider['addCaCertificateListener']>[0];

const LOOK_EVERY_MS = 5_000;

/** Throws when the file cannot be read at first. Later, the last readable content counts. */
export function trustAuthority(
  path: string,
  { address, lookEveryMs = LOOK_EVERY_MS }: { address: string; lookEveryMs?: number },
): ChannelCredentials {
  const ip = ipOf(address);
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

  const verify = ip === undefined ? {} : verifyByIp(ip);
  const made = experimental.createCertificateProviderChannelCredentials(
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
    verify,
  );
  return ip === undefined ? made : withoutServerName(made);
}

/** Returns undefined for a name. `address` is `host:port`. */
function ipOf(address: string): string | undefined {
  const host = address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

const verifyByIp = (ip: string): VerifyOptions => ({
  checkServerIdentity: (_host, certificate) => checkServerIdentity(ip, certificate),
});

/**
 * Removes the server name from the handshake. TLS sends the name of the wanted server, but an IP address is not allowed
 * there (RFC 6066), and Node warns about it (DEP0123). The library sends the host of the target, so the target has none
 * here. The certificate is still checked for the address.
 */
function withoutServerName(made: ChannelCredentials): ChannelCredentials {
  const connector = made._createSecureConnector.bind(made);
  made._createSecureConnector = (_target, options, callCredentials) =>
    connector({ scheme: 'dns', path: '' }, options, callCredentials);
  return made;
}
