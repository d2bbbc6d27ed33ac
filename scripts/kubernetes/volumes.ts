/**
 * Gives every claim of the default storage class a volume: a folder of the node, as a local volume, which unlike a host
 * path takes on the group that a pod asks for. Removed with its claim.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api, KubeConfig, StorageV1Api } from '@kubernetes/client-node';
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { NODE_NAME } from './addresses.ts';
import { report } from './report.ts';

const CLASS = 'standard';
const PROVISIONER = 'svc.test/node-folder';
const LOOK_EVERY_MS = 300;

export async function provideVolumes({ kubeconfig, folder }: { kubeconfig: string; folder: string }): Promise<void> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  await config.makeApiClient(StorageV1Api).createStorageClass({
    body: { metadata: { name: CLASS, annotations: isDefault }, provisioner: PROVISIONER, reclaimPolicy: 'Delete' },
  });
  void keepLooking(core, folder);
}

async function keepLooking(core: CoreV1Api, folder: string): Promise<void> {
  let complaint = '';
  for (;;) {
    try {
      await makeMissing(core, folder);
      await removeReleased(core, folder);
      complaint = '';
    } catch (error) {
      // Tests take the API server away; anything else is worth a line.
      const said = error instanceof Error ? error.message : String(error);
      if (said !== complaint) report(`volumes: ${said.slice(0, 300)}`);
      complaint = said;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

async function makeMissing(core: CoreV1Api, folder: string): Promise<void> {
  const { items } = await core.listPersistentVolumeClaimForAllNamespaces();
  for (const claim of items) {
    const isOurs = claim.spec?.storageClassName === CLASS && claim.metadata?.deletionTimestamp === undefined;
    if (isOurs && claim.status?.phase === 'Pending' && !claim.spec?.volumeName) await makeVolume(core, folder, claim);
  }
}

async function makeVolume(core: CoreV1Api, folder: string, claim: V1PersistentVolumeClaim): Promise<void> {
  const { namespace = '', name = '', uid = '' } = claim.metadata ?? {};
  const volume = `pvc-${uid}`;
  const path = join(folder, volume);
  mkdirSync(path, { recursive: true });
  const onThisNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [NODE_NAME] };
  const body = {
    metadata: { name: volume, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.['storage'] ?? '1Gi' },
      accessModes: claim.spec?.accessModes ?? ['ReadWriteOnce'],
      storageClassName: CLASS,
      // We remove it ourselves: nobody else knows how.
      persistentVolumeReclaimPolicy: 'Retain',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onThisNode] }] } },
    },
  };
  await core.createPersistentVolume({ body }).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 409) throw error; // made before, and not bound yet
  });
}

async function removeReleased(core: CoreV1Api, folder: string): Promise<void> {
  const { items } = await core.listPersistentVolume();
  for (const { metadata, status } of items) {
    const name = metadata?.name;
    const isOurs = metadata?.annotations?.['pv.kubernetes.io/provisioned-by'] === PROVISIONER;
    if (name === undefined || !isOurs || status?.phase !== 'Released') continue;
    await core.deletePersistentVolume({ name });
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}
