/**
 * True only for a path on this site. Browsers leave the site for `//host`, `/\host` and control characters. The decoded
 * text is checked as well, because the page that follows `next` may decode it again.
 */
export const isOwnPath = (next: string): boolean => [next, decodedOnce(next)].every(staysOnThisSite);

function staysOnThisSite(path: string): boolean {
  if (!path.startsWith('/') || /[\u0000-\u001f\u007f\\]/.test(path)) return false;
  const target = URL.parse(path, 'http://this-site.invalid');
  return target?.host === 'this-site.invalid' && !target.pathname.startsWith('//');
}

function decodedOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray % never decodes
  }
}
