/**
 * read_tree and read_files: an agent fetches the files of the run of its attempt. It may read the tree of this run, and
 * the one that new runs of the same DAG get, for attempts without a run.
 */
import { LRUCache } from 'lru-cache';
import { MOST_PARTS_ASKED, isHash } from '@svc/proto/code-archive.ts';
import { findManifest, mayReadTree } from '../../db/bundles/archives.ts';
import type { Database } from '../../db/database.ts';
import { encodedParts, filesOfManifest, parsePart } from '../../db/bundles/tree-parts.ts';
import type { TreePart } from '../../db/bundles/tree-parts.ts';
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
    const files = filesOfManifest(await manifestOf(identity, hash));
    filesOfTrees.set(key, files);
    return files;
  }

  return {
    read_tree: async ({ identity, params }) => ({ json: await manifestOf(identity, treeOf(params)) }),

    async read_files({ identity, params }) {
      const files = await filesOf(identity, treeOf(params));
      const asked = partsOf(params);
      if (asked.some(({ hash }) => !files.has(hash))) throw new RpcError('denied', 'the tree has no such file');
      const parts = await encodedParts(db.tenant(identity.tenantId), asked);
      if (!parts) throw new RpcError('not_found', 'the files of this run are not stored any more');
      return { json: JSON.stringify(parts) };
    },
  };
}

function treeOf(params: Params): string {
  const hash = params.text('tree');
  if (!isHash(hash)) throw new RpcError('invalid', 'tree must be the hash of a tree');
  return hash;
}

function partsOf(params: Params): TreePart[] {
  const names = params.optionalTexts('parts') ?? [];
  if (names.length === 0 || names.length > MOST_PARTS_ASKED)
    throw new RpcError('invalid', `parts must be a list of 1 to ${MOST_PARTS_ASKED} parts`);
  return names.map((name) => {
    const part = parsePart(name);
    if (!part) throw new RpcError('invalid', 'a part is named "<hash of the file> <number>"');
    return part;
  });
}
