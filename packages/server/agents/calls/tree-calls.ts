/**
 * read_tree and read_files: an agent fetches the files of the run of its attempt. It may read the tree of this run, and
 * the one that new runs of the same DAG get, for attempts without a run.
 */
import { LRUCache } from 'lru-cache';
import { MOST_ANSWER_BYTES, MOST_PARTS_ASKED, isHash } from '@svc/proto/code-archive.ts';
import type { TreeEntry } from '@svc/proto/code-archive.ts';
import { findManifest, mayReadTree, partSizes, readParts } from '../../db/bundles/archives.ts';
import type { Database } from '../../db/database.ts';
import type { AttemptIdentity } from '../credentials.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallMethod, Params } from './call-context.ts';

/** Each has the hashes of at most `bundles.max_files` files. */
const KEPT_TREES = 8;

export function treeCalls({ db }: { db: Database }): { read_tree: CallMethod; read_files: CallMethod } {
  const filesOfTrees = new LRUCache<string, ReadonlySet<string>>({ max: KEPT_TREES });

  async function manifestOf(identity: AttemptIdentity, hash: string): Promise<string> {
    const tenant = db.tenant(identity.tenantId);
    const manifest = (await mayReadTree(tenant, { ...identity, hash })) ? await findManifest(tenant, hash) : undefined;
    if (manifest === undefined) throw new RpcError('not_found', 'the files of this run are not stored any more');
    return manifest;
  }

  async function filesOf(identity: AttemptIdentity, hash: string): Promise<ReadonlySet<string>> {
    const key = `${identity.attemptId}/${hash}`;
    const known = filesOfTrees.get(key);
    if (known) return known;
    const entries = JSON.parse(await manifestOf(identity, hash)) as TreeEntry[];
    const files = new Set(entries.flatMap((entry) => ('file' in entry ? [entry.file] : [])));
    filesOfTrees.set(key, files);
    return files;
  }

  return {
    read_tree: async ({ identity, params }) => ({ json: await manifestOf(identity, treeOf(params)) }),

    /** Returns as many of the first parts as fit into an answer, at least one. */
    async read_files({ identity, params }) {
      const files = await filesOf(identity, treeOf(params));
      const asked = partsOf(params);
      if (asked.some(({ hash }) => !files.has(hash))) throw new RpcError('denied', 'the tree has no such file');
      const tenant = db.tenant(identity.tenantId);
      const sizes = new Map((await partSizes(tenant, asked)).map((one) => [keyOf(one), one.bytes]));
      let room = MOST_ANSWER_BYTES;
      const chosen = asked.filter((one, index) => {
        room -= sizes.get(keyOf(one)) ?? Infinity;
        return room >= 0 || index === 0;
      });
      const found = new Map((await readParts(tenant, chosen)).map((one) => [keyOf(one), one.data]));
      const parts = chosen.map((one) => {
        const data = found.get(keyOf(one));
        if (!data) throw new RpcError('not_found', 'the files of this run are not stored any more');
        return data.toString('base64');
      });
      return { json: JSON.stringify(parts) };
    },
  };
}

function treeOf(params: Params): string {
  const hash = params.text('tree');
  if (!isHash(hash)) throw new RpcError('invalid', 'tree must be the hash of a tree');
  return hash;
}

type Part = { hash: string; part: number };
const keyOf = ({ hash, part }: Part): string => `${hash} ${part}`;

function partsOf(params: Params): Part[] {
  const names = params.optionalTexts('parts') ?? [];
  if (names.length === 0 || names.length > MOST_PARTS_ASKED)
    throw new RpcError('invalid', `parts must be a list of 1 to ${MOST_PARTS_ASKED} parts`);
  return names.map((name) => {
    const [, hash = '', part = ''] = /^([0-9a-f]{64}) (\d{1,6})$/.exec(name) ?? [];
    if (hash === '') throw new RpcError('invalid', 'a part is named "<hash of the file> <number>"');
    return { hash, part: Number(part) };
  });
}
