/** Which sources a bundle may have. */
import { realpath } from 'node:fs/promises';
import { join, normalize } from 'node:path';

export type Source = { kind: 'git' | 'folder'; url: string };

const SSH_SHORT = /^[\w.-]+@[\w.-]+:(?!\/\/)[^\s\\]+$/;

/**
 * Returns why the source is refused. A path on the host is allowed only below a folder that the operator names, because
 * the process that reads it may read more than the tenant.
 */
export function refusedSource({ kind, url }: Source, allowedPaths: readonly string[]): string | undefined {
  if (/[\u0000-\u0020\u007f]/.test(url)) return 'url: it has a space or a control character';
  const path = pathOf({ kind, url });
  if (path !== undefined) {
    if (!path.startsWith('/')) return 'url: a folder is an absolute path';
    const real = normalize(path);
    return isBelowOne(real, allowedPaths)
      ? undefined
      : `url: ${real.slice(0, 200)} is on the host of the control plane, and bundles.allowed_paths does not name a folder above it`;
  }
  if (SSH_SHORT.test(url)) return url.startsWith('-') ? 'url: it begins with a dash' : undefined;
  const parsed = URL.parse(url);
  if (
    !parsed ||
    !['https:', 'ssh:'].includes(parsed.protocol) ||
    parsed.hostname === '' ||
    parsed.hostname.startsWith('-')
  )
    return 'url: write https://host/path, ssh://user@host/path or user@host:path';
  if (parsed.password !== '' || (parsed.protocol === 'https:' && parsed.username !== ''))
    return 'url: it has a password or a token: keep that in a connection, and name the connection in conn_id';
  return undefined;
}

/** Returns why a source on the host is refused because a link leads out of the allowed folders. */
export async function refusedLink(
  { folder, ...source }: Source & { folder: string },
  allowedPaths: readonly string[],
): Promise<string | undefined> {
  const path = pathOf(source);
  if (path === undefined) return undefined;
  // A folder inside a repository is not on the host.
  const whole = source.kind === 'folder' ? join(path, folder) : path;
  const real = await realpath(whole).catch(() => undefined);
  if (real === undefined) return undefined; // the sync says that it is missing
  const allowed = await Promise.all(allowedPaths.map((one) => realpath(one).catch(() => one)));
  return isBelowOne(real, allowed)
    ? undefined
    : `url: ${whole.slice(0, 200)} is a link that leads out of the folders in bundles.allowed_paths`;
}

/** The path of a source on the host. Undefined: the source is on another host. */
const pathOf = ({ kind, url }: Source): string | undefined =>
  kind === 'folder' || url.startsWith('/') ? url : fileUrlPath(url);

const isBelowOne = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => `${path}/`.startsWith(`${normalize(folder).replace(/\/+$/, '')}/`));

const fileUrlPath = (url: string): string | undefined =>
  /^file:\/\//i.test(url) ? decode(url.replace(/^file:\/\//i, '')) : undefined;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
