/**
 * Decides whether a worker of another version of svc is kept. Agents and control planes of neighbouring minor versions
 * understand each other (docs/warm-pools.md). After an upgrade the control plane therefore finds its workers and
 * replaces them one by one.
 *
 *   keep     the same minor version, or one apart
 *   drain    newer than that, because the control plane was downgraded: it finishes its attempts and takes no more
 *   refuse   older than that, or without a version: it gets no stream, and leaves when it is idle
 */
type SkewVerdict = 'keep' | 'drain' | 'refuse';

export function judgeSkew(own: string, worker: string): SkewVerdict {
  const [ours, theirs] = [minorOf(own), minorOf(worker)];
  if (!ours || !theirs) return 'refuse';
  if (ours.major !== theirs.major) return theirs.major > ours.major ? 'drain' : 'refuse';
  const ahead = theirs.minor - ours.minor;
  if (Math.abs(ahead) <= 1) return 'keep';
  return ahead > 0 ? 'drain' : 'refuse';
}

function minorOf(version: string): { major: number; minor: number } | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(version) ?? [];
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}
