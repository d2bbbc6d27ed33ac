/** Links to a commit. Without a template of the bundle, the address of the repository tells the forge. */

const FORGES: readonly { host: RegExp; path: string }[] = [
  { host: /(^|\.)github\./, path: '/commit/{commit}' },
  { host: /(^|\.)gitlab\./, path: '/-/commit/{commit}' },
  { host: /(^|\.)bitbucket\./, path: '/commits/{commit}' },
  { host: /(^|\.)(codeberg\.org|gitea\.|forgejo\.)/, path: '/commit/{commit}' },
];

/** Returns undefined when the forge is unknown. Nothing of the address but host and path is shown. */
export function commitUrl(
  { url, commit_url: template }: { url: string; commit_url: string | null },
  commit: string,
): string | undefined {
  if (template !== null) return template.replaceAll('{commit}', commit);
  const place = placeOf(url);
  const forge = place && FORGES.find(({ host }) => host.test(place.host));
  if (!place || !forge) return undefined;
  return `https://${place.host}${place.path}${forge.path.replace('{commit}', commit)}`;
}

function placeOf(url: string): { host: string; path: string } | undefined {
  const short = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)([^?#\s]+)$/.exec(url);
  const parsed = short ? undefined : URL.parse(url);
  const host = short ? short[1] : parsed && /^(https|ssh):$/.test(parsed.protocol) ? parsed.hostname : undefined;
  const path = short ? short[2] : parsed?.pathname;
  if (!host || !path) return undefined;
  return {
    host: host.toLowerCase(),
    path: `/${path
      .replace(/^\/+/, '')
      .replace(/\/+$/, '')
      .replace(/\.git$/, '')}`,
  };
}
