// The link to the identity provider works as it is; this adds where the visitor wanted to be.
import { byId } from './by-id.js';

const link = byId('single-sign-on', HTMLAnchorElement);
const next = new URLSearchParams(location.search).get('next');
if (next !== null) {
  const target = URL.parse(next, document.baseURI);
  // Only a path on this site; the server checks it, too.
  if (target?.origin === location.origin) {
    const path = `${target.pathname}${target.search}${target.hash}`;
    link.href = `${link.href}?next=${encodeURIComponent(path)}`;
  }
}
