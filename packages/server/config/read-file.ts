// Reads the YAML file. It walks the syntax tree, because every message names the line, and because scalars keep their
// spelling: a secret written 00123 must not become the number 123.

import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node, Pair, YAMLMap } from 'yaml';
import { badValue, quote, unknownName } from './config-error.ts';
import type { ConfigProblem } from './config-error.ts';
import type { KeyDefinition } from './key-definition.ts';
import { configKeys, definitionOf, isConfigKey } from './keys.ts';
import type { ConfigKey } from './keys.ts';
import { maskText } from './mask.ts';
import { nearestKey } from './nearest.ts';
import { allowedFor } from './parse-value.ts';
import type { RawValue } from './parse-value.ts';
import type { Setting, SourceReading } from './sources.ts';

const MAX_SYNTAX_ERRORS = 3;

interface Walk {
  readonly file: string;
  readonly document: Document;
  readonly lines: LineCounter;
  readonly settings: Setting[];
  readonly problems: ConfigProblem[];
}

export function readYaml(options: { file: string; text: string }): SourceReading {
  const { file, text } = options;
  const lines = new LineCounter();
  // This never throws. Even the stack overflow of ten thousand brackets is returned as an error with its place.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const walk: Walk = { file, document, lines, settings: [], problems: [] };
  // One missing bracket makes every later line wrong, so only the first errors are reported.
  for (const error of document.errors.slice(0, MAX_SYNTAX_ERRORS)) {
    walk.problems.push(wholeFile(positionOf(walk, error.pos[0]), `not valid YAML: ${error.message}`));
  }
  if (walk.problems.length === 0) {
    const root = document.contents;
    if (isMap(root)) {
      readSection(walk, root, '');
    } else if (!isNothing(root)) {
      walk.problems.push(wholeFile(originOf(walk, root), 'the file must be a map of sections, such as "server:"'));
    }
  }
  const warnings = document.warnings.map(({ pos, message }) => `${positionOf(walk, pos[0])}: ${message}`);
  return { settings: walk.settings, problems: walk.problems, warnings };
}

function readSection(walk: Walk, section: YAMLMap, prefix: string): void {
  for (const pair of section.items as Pair<unknown, unknown>[]) {
    const name = isScalar(pair.key) ? String(pair.key.source ?? pair.key.value) : '(not a name)';
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const value = resolve(walk, pair.value);
    const origin = originOf(walk, isScalar(pair.key) ? pair.key : value);
    // A name with a dot would match a key without being nested, and would bypass the duplicate check.
    if (name.includes('.')) {
      const allowed = nestedForm(nearestKey(path));
      const message = `${origin}: unknown key ${quote(name)}; sections are nested, not dotted; did you mean ${allowed}?`;
      walk.problems.push({ key: path, allowed, origin, message });
    } else if (isConfigKey(path)) {
      readKey({ walk, key: path, value, origin });
    } else if (!isSectionName(path)) {
      walk.problems.push(unknownName({ key: path, nearest: nearestKey(path), origin }));
    } else if (isMap(value)) {
      readSection(walk, value, path);
    } else if (!isNothing(value)) {
      const allowed = `a map of keys, such as ${nestedForm(firstKeyOf(path))}`;
      walk.problems.push({
        key: path,
        allowed,
        origin,
        message: `${origin}: ${path} is a section; allowed: ${allowed}`,
      });
    }
  }
}

function readKey(options: { walk: Walk; key: ConfigKey; value: unknown; origin: string }): void {
  const { walk, key, value, origin } = options;
  // A key without a value (`url:`) counts as not set.
  if (isNothing(value)) {
    return;
  }
  const definition = definitionOf(key);
  const raw = rawOf(walk, value);
  if (raw === undefined || raw.kind !== kindOf(definition)) {
    const shown = isScalar(value) ? maskText(definition, textOf(value)) : isSeq(value) ? '(a list)' : '(a map)';
    walk.problems.push(badValue({ key, value: shown, allowed: allowedFor(definition), origin }));
    return;
  }
  walk.settings.push({ key, raw, source: 'file', origin });
}

function rawOf(walk: Walk, value: unknown): RawValue | undefined {
  if (isScalar(value)) {
    return { kind: 'text', text: textOf(value) };
  }
  if (isSeq(value)) {
    const items = value.items.map((item) => resolve(walk, item));
    return items.every(isScalar) ? { kind: 'list', items: items.map(textOf) } : undefined;
  }
  if (isMap(value)) {
    const pairs = value.items.map((pair) => [resolve(walk, pair.key), resolve(walk, pair.value)] as const);
    return pairs.every(([name, text]) => isScalar(name) && isScalar(text))
      ? { kind: 'map', pairs: pairs.map(([name, text]) => [textOf(name), textOf(text)] as const) }
      : undefined;
  }
  return undefined;
}

function kindOf(definition: KeyDefinition): RawValue['kind'] {
  return definition.type === 'list' || definition.type === 'map' ? definition.type : 'text';
}

/** Returns the text of a plain scalar as written (`00123`, `yes`, `1.50`), or the unquoted content of a string. */
function textOf(node: unknown): string {
  if (!isScalar(node) || node.value === null) {
    return '';
  }
  return typeof node.value === 'string' ? node.value : String(node.source ?? node.value);
}

function isNothing(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null);
}

function resolve(walk: Walk, node: unknown): unknown {
  if (!isAlias(node)) {
    return node;
  }
  const target = node.resolve(walk.document);
  if (target === undefined) {
    walk.problems.push(wholeFile(originOf(walk, node), `not valid YAML: no anchor &${node.source} before this alias`));
  }
  return target;
}

function originOf(walk: Walk, node: unknown): string {
  const start = (node as Partial<Node> | null | undefined)?.range?.[0];
  if (start === undefined) {
    return walk.file;
  }
  return positionOf(walk, start);
}

function positionOf(walk: Walk, offset: number): string {
  const { line, col } = walk.lines.linePos(offset);
  return `${walk.file}:${line}:${col}`;
}

function isSectionName(path: string): boolean {
  return configKeys.some((key) => key.startsWith(`${path}.`));
}

function firstKeyOf(section: string): string {
  return configKeys.find((candidate) => candidate.startsWith(`${section}.`)) ?? section;
}

/** Writes `auth.jwt.secret` in nested form: `auth: {jwt: {secret: …}}`. */
function nestedForm(path: string): string {
  const parts = path.split('.');
  return `${parts.join(': {')}: …${'}'.repeat(parts.length - 1)}`;
}

export function wholeFile(origin: string, message: string): ConfigProblem {
  return {
    key: '',
    allowed: 'a YAML file of configuration keys',
    origin,
    message: `${origin}: ${message.replaceAll(/\s+/g, ' ')}`,
  };
}
