/**
 * A certificate that can be replaced while the process runs. The files are read periodically and compared by content.
 * It therefore does not matter whether they are overwritten, renamed, or reached through links that Kubernetes swaps.
 *
 *   in use ──content has changed, and is a pair──▶ in use, listeners are notified
 *          ──content is no pair──▶ the old pair stays; logged when found twice, because two files change one by one
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { checkPair, readPairFiles, readPairSync } from './certificate-pair.ts';
import type { CertificatePair, PairContent, TlsFiles } from './certificate-pair.ts';

export type WatchedPair = {
  current(): CertificatePair;
  /** True if the current files cannot be used. */
  isFailing(): boolean;
  /** Called with each new pair. */
  onChange(listener: (pair: CertificatePair) => void): void;
  start(): void;
  stop(): void;
};

type Log = {
  info(details: object, message: string): void;
  warn(details: Coded, message: string): void;
  error(details: Coded, message: string): void;
};

const LOOK_EVERY_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const WARN_BEFORE_MS = 14 * DAY_MS;

/** Throws a CertificateError if the files contain no usable pair at the start. */
export function watchPair(files: TlsFiles, options: { log: Log; lookEveryMs?: number }): WatchedPair {
  const { log, lookEveryMs = LOOK_EVERY_MS } = options;
  const listeners: ((pair: CertificatePair) => void)[] = [];
  let pair = readPairSync(files);
  let trouble: { about: string; isSaid: boolean } | undefined;
  /**
   * True after a problem was logged, until the files are usable. Another problem or half a replacement does not reset
   * it.
   */
  let isFailing = false;
  let warnedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(): Promise<void> {
    let content: PairContent | undefined;
    try {
      content = await readPairFiles(files);
      if (content.cert.equals(pair.cert) && content.key.equals(pair.key)) {
        trouble = undefined;
        isFailing = false;
        return;
      }
      pair = checkPair(files, content);
    } catch (error) {
      const { message } = error as Error;
      const about = content ? `${content.cert.toString('base64')} ${content.key.toString('base64')}` : message;
      if (trouble?.about !== about) trouble = { about, isSaid: false };
      else if (!trouble.isSaid) {
        trouble.isSaid = true;
        isFailing = true;
        log.error(
          { code: 'SVC1009', reason: message, ...expiry() },
          `${files.section}: the new certificate cannot be used; the old one stays`,
        );
      }
      return;
    }
    trouble = undefined;
    isFailing = false;
    warnedAt = -Infinity;
    log.info(expiry(), `${files.section}: a new certificate is in use`);
    for (const listener of listeners) listener(pair);
  }

  const expiry = (): object => ({ expires: new Date(pair.expiresAt).toISOString() });

  function warnInTime(): void {
    const now = Date.now();
    if (pair.expiresAt - now > WARN_BEFORE_MS || now - warnedAt < DAY_MS) return;
    warnedAt = now;
    const message =
      pair.expiresAt > now ? 'the certificate expires soon: renew it' : 'the certificate has expired: renew it';
    log.warn({ code: 'SVC1010', ...expiry() }, `${files.section}: ${message}`);
  }

  function schedule(): void {
    timer = setTimeout(() => {
      void look().finally(() => {
        warnInTime();
        if (!isStopped) schedule();
      });
    }, lookEveryMs).unref();
  }

  return {
    current: () => pair,
    isFailing: () => isFailing,
    onChange: (listener) => void listeners.push(listener),
    start() {
      warnInTime();
      schedule();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
