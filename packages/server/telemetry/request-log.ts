import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { MASK } from '@svc/spec/masking/rules.ts';

/**
 * Long enough for every list filter of the web UI. The URL is the one field of a line that any client chooses freely.
 */
const MAX_URL_LENGTH = 2_048;

/** The fields of a request line, from a framework request, a Node request or an earlier description. */
export function describeRequest(request: unknown): Record<string, unknown> {
  const id = read(request, 'id');
  const url = read(request, 'url');
  return {
    ...(id === undefined ? {} : { id }),
    method: read(request, 'method'),
    url: typeof url === 'string' ? loggableUrl(url) : undefined,
    client: read(request, 'ip') ?? read(request, 'client') ?? read(read(request, 'socket'), 'remoteAddress'),
  };
}

/** The status and, for a framework reply, the milliseconds since the request arrived. */
export function describeReply(reply: unknown): Record<string, unknown> {
  const elapsed = read(reply, 'elapsedTime');
  return {
    status: read(reply, 'statusCode') ?? read(reply, 'status'),
    ...(typeof elapsed === 'number' ? { ms: Math.round(elapsed * 10) / 10 } : {}),
  };
}

/**
 * Masks the values of sensitive query names in a URL. Names are compared decoded, because a server reads `%74oken` as
 * `token`.
 */
export function loggableUrl(url: string): string {
  const mark = url.indexOf('?');
  if (mark === -1) return shortened(url);
  const query = url
    .slice(mark + 1)
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals !== -1 && isSecretParameter(pair.slice(0, equals)) ? `${pair.slice(0, equals)}=${MASK}` : pair;
    });
  return shortened(`${url.slice(0, mark)}?${query.join('&')}`);
}

function isSecretParameter(rawName: string): boolean {
  let name = rawName;
  try {
    name = decodeURIComponent(rawName.replaceAll('+', ' '));
  } catch {
    // A name with a broken escape is compared unchanged.
  }
  // `code` is the one-time credential of a single sign-on callback.
  return isSensitiveName(name) || name === 'code';
}

function shortened(url: string): string {
  return url.length > MAX_URL_LENGTH ? `${url.slice(0, MAX_URL_LENGTH)}…` : url;
}

function read(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
