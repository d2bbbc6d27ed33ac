#!/bin/sh
# clean-up.sh STATE CGROUP PID
# Waits until whoever started the cluster closes its end of the pipe, which the kernel does for one that was killed.
# Then ends the namespaces, which takes every process, mount and network device in them along, and removes the rest.
state=$1 cgroup=$2 pid=$3
cat > /dev/null

kill -KILL "$pid" 2> /dev/null
for attempt in $(seq 300); do
  left=$(find /sys/fs/cgroup -maxdepth 2 -type d -name "$cgroup" 2> /dev/null)
  [ -n "$left" ] || break
  # Fails as long as one process in it still runs.
  find $left -depth -type d -exec rmdir {} + 2> /dev/null || sleep 0.1
done
rm -rf "$state"
