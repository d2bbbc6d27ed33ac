/** Helpers that every page uses. */
import { createHash } from 'node:crypto';

export type Page = { body: string; contentType: string; etag: string };

export const pageOf = (body: string, contentType: string): Page => ({
  body,
  contentType,
  etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`,
});

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
