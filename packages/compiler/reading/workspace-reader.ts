/**
 * Reads what authors wrote beside their DAG files: which units there are, and the settings of projects. A control plane has it
 * done by another thread (reading-thread.ts); a command that does nothing else reads here.
 */
import { discover } from '../discover.ts';
import type { Unit } from '../discover.ts';
import { readProject } from './read-project.ts';
import type { ReadProject } from './read-project.ts';

export type WorkspaceReader = {
  /** What there is to compile at a path. Rejects with a DiscoverError when nothing there can be looked at. */
  units(path: string): Promise<Unit[]>;
  /** The settings of a unit that is a project. */
  project(unit: Pick<Unit, 'path' | 'root'>): Promise<ReadProject>;
  close(): Promise<void>;
};

export const readHere: WorkspaceReader = {
  units: discover,
  project: async (unit) => readProject(unit),
  close: async () => {},
};
