/**
 * Explains what is wrong with a YAML text and what to do about it, for readers who do not know the YAML specification.
 */
import type { YAMLParseError } from 'yaml';

type Explained = { message: string; instead: string };

const BY_CODE: Partial<Record<YAMLParseError['code'], Explained>> = {
  ALIAS_PROPS: {
    message: 'an alias (*name) cannot have an anchor or a tag of its own',
    instead: 'Remove what is before the alias',
  },
  BAD_DIRECTIVE: {
    message: 'this line begins with %, which YAML takes for a directive',
    instead: 'Remove the line, or put the text in quotes',
  },
  BAD_DQ_ESCAPE: {
    message: 'a backslash in double quotes begins an escape that does not exist',
    instead: 'Write \\\\ for a backslash, or use single quotes, in which a backslash is an ordinary character',
  },
  BAD_SCALAR_START: {
    message: 'a value cannot begin with this character',
    instead: 'Put the value in quotes',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'there is a second ": " on this line',
    instead: 'Put a value that contains ": " in quotes, or write the inner key on a line of its own, indented further',
  },
  BLOCK_IN_FLOW: {
    message: 'inside of [ ] and { } everything must be written with brackets and commas',
    instead: 'Check whether a bracket above is not closed',
  },
  BAD_COLLECTION_TYPE: { message: 'the tag does not fit the value', instead: 'Remove the tag' },
  KEY_OVER_1024_CHARS: {
    message: 'a key is longer than 1,024 characters',
    instead: 'Check whether a quote above is not closed',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a key must be on one line, and be followed by ": "',
    instead: 'Check the line above: a ": " may be missing, or a quote may not be closed',
  },
  MULTIPLE_ANCHORS: { message: 'a value can have only one anchor (&name)', instead: 'Remove one of them' },
  MULTIPLE_DOCS: {
    message: 'a second document begins here',
    instead: 'Remove the line "---" or "...": the file must be one document',
  },
  MULTIPLE_TAGS: { message: 'a value can have only one tag (!name)', instead: 'Remove one of them' },
  NON_STRING_KEY: { message: 'a key must be text', instead: 'Put the key in quotes' },
  BAD_PROP_ORDER: {
    message: 'an anchor or a tag stands before the "-", "?" or ":" that it belongs to',
    instead: 'Write it after that, before the value',
  },
  RESOURCE_EXHAUSTION: { message: 'is nested too deeply', instead: 'Nest less' },
  TAB_AS_INDENT: { message: 'this line is indented with a tab', instead: 'Indent with spaces: YAML allows no tabs' },
  TAG_RESOLVE_FAILED: {
    message: 'the tag (!name) is unknown, or the value does not fit it',
    instead: 'Remove the tag, or put a value that begins with ! in quotes',
  },
};

/** Explanations for codes that cover several faults, selected by the start of the library's message. */
const BY_WORDS: readonly (readonly [RegExp, Explained])[] = [
  [
    /^Missing closing (['"])/,
    { message: 'a quote is not closed', instead: 'Close the quote that begins here, or above' },
  ],
  [
    /^Implicit map keys need to be followed by map values/,
    { message: 'a key has no value', instead: 'Write ": " after the key' },
  ],
  [
    /^Implicit keys need to be/,
    { message: 'a key must be on one line, and be followed by ": "', instead: 'Check the line above' },
  ],
  [
    /^(?:Flow (?:map|sequence|collection)|.*in flow collection).*(?:must end with|needs? to (?:be|end))|^Missing , (?:or : )?between|end with a [}\]]/i,
    {
      message: 'a bracket is not closed, or a comma is missing',
      instead: 'Close every [ with ] and every { with }, and put commas between what is inside',
    },
  ],
  [
    /^Comments must be separated/,
    { message: 'a comment must have a space before its #', instead: 'Add the space, or put the value in quotes' },
  ],
  [/^Missing space after :/, { message: 'a space is missing after ":"', instead: 'Write ": "' }],
  [
    /^Tags and anchors must be separated/,
    { message: 'a space is missing after an anchor or a tag', instead: 'Add the space' },
  ],
  [
    /Anchor|Alias/,
    {
      message: 'an anchor (&) or an alias (*) has no usable name',
      instead: 'Put text that begins with & or * in quotes',
    },
  ],
  [
    /same column|indent/i,
    {
      message: 'this line is not indented like its neighbours',
      instead: 'Begin the keys of one map, and the items of one list, in the same column',
    },
  ],
  [
    /^Sequence item without - indicator/,
    { message: 'an item of a list does not begin with "- "', instead: 'Begin it with "- ", or indent it further' },
  ],
  [
    /^Block scalar header|^Not a YAML token/,
    { message: 'something is after | or > that does not belong there', instead: 'Begin the text on the next line' },
  ],
  [
    /^Unexpected (?:flow-(?:map|seq)-end|[}\]])/,
    { message: 'a bracket is closed that was not opened', instead: 'Remove it, or put the value in quotes' },
  ],
  [
    /^Unexpected block-seq-ind on same line/,
    { message: 'a list begins on the line of its key', instead: 'Begin it on the next line' },
  ],
  [
    /^Unexpected \S+ at node end/,
    {
      message: 'something follows a value that is complete',
      instead: 'Put the whole value in one pair of quotes, or begin a new key on a line of its own',
    },
  ],
  [
    /^Missing directives-end/,
    { message: 'a line above begins with %', instead: 'Remove the line, or put the text in quotes' },
  ],
  [/^Unexpected (?:,|empty item)/, { message: 'there is a comma with nothing before it', instead: 'Remove the comma' }],
];

const OTHERWISE: Explained = {
  message: 'this is not valid YAML here',
  instead: 'Check the indentation, the quotes and the brackets of this line and the one above',
};

export function explainYamlError({ code, message }: Pick<YAMLParseError, 'code' | 'message'>): Explained {
  return BY_CODE[code] ?? BY_WORDS.find(([words]) => words.test(message))?.[1] ?? OTHERWISE;
}
