/**
 * Finds the units of a workspace that claim the same DAG id. A unit is a file or a project, and is known by its name. A
 * change of one unit concerns only the few units with the same ids, so it costs the same in a workspace of thousands.
 */
import type { CompiledUnit } from './compile-unit.ts';
import { claims } from './compile-workspace.ts';

export type ClaimedIds = {
  set(name: string, unit: CompiledUnit): void;
  delete(name: string): void;
  names(): Iterable<string>;
  get(name: string): CompiledUnit | undefined;
  /**
   * Returns in `affected` the unit and the units that share a DAG id with it, now or since the last call for it. `all` has
   * these and the units that share an id with one of them, in the order of their names.
   */
  around(name: string): { affected: ReadonlySet<string>; all: CompiledUnit[] };
};

export function claimedIds(): ClaimedIds {
  const units = new Map<string, CompiledUnit>();
  const claimants = new Map<string, Set<string>>();
  /** By name of a unit: the ids that it has claimed since the last call of `around` for it. */
  const touched = new Map<string, Set<string>>();

  function forget(name: string): void {
    const unit = units.get(name);
    if (!unit) return;
    for (const dagId of claims(unit)) {
      const names = claimants.get(dagId);
      names?.delete(name);
      if (names?.size === 0) claimants.delete(dagId);
    }
  }

  const claimantsOf = (dagIds: Iterable<string>): string[] =>
    [...dagIds].flatMap((id) => [...(claimants.get(id) ?? [])]);

  return {
    names: () => units.keys(),
    get: (name) => units.get(name),
    set(name, unit) {
      const before = units.get(name);
      forget(name);
      const ids = touched.get(name) ?? new Set<string>();
      for (const dagId of [...idsOf(before), ...claims(unit)]) ids.add(dagId);
      touched.set(name, ids);
      units.set(name, unit);
      for (const dagId of claims(unit)) claimants.set(dagId, (claimants.get(dagId) ?? new Set<string>()).add(name));
    },
    delete(name) {
      forget(name);
      units.delete(name);
      touched.delete(name);
    },
    around(name) {
      const affected = new Set([name, ...claimantsOf(touched.get(name) ?? [])]);
      touched.delete(name);
      const ids = [...affected].flatMap((each) => idsOf(units.get(each)));
      const all = new Set([...affected, ...claimantsOf(ids)]);
      return { affected, all: [...all].sort().flatMap((each) => units.get(each) ?? []) };
    },
  };
}

const idsOf = (unit: CompiledUnit | undefined): string[] => (unit ? claims(unit) : []);
