#!/bin/sh
# clean-up.sh STATE CGROUP PID
# Waits until whoever started the cluster closes its end of the pipe, which the kernel does for one that was killed.
# Then ends the namespaces, which takes every process, mount and network device in them along, and removes the rest.
state=$1 cgroup=$2 pid=$3
cat > /dev/null

# The first process of the namespaces. It is a zombie, or gone, only when the kernel has ended every other process in them.
first=$(cat "/proc/$pid/task/$pid/children" 2> /dev/null)
first=${first%% *}
kill -KILL "$pid" 2> /dev/null
while [ -n "$first" ] && grep -q '^State:[[:space:]]*[^Z]' "/proc/$first/status" 2> /dev/null; do sleep 0.05; done
for attempt in $(seq 300); do
  left=$(find /sys/fs/cgroup -maxdepth 2 -type d -name "$cgroup" 2> /dev/null)
  [ -n "$left" ] || break
  # Fails as long as one process in it still runs.
  find $left -depth -type d -exec rmdir {} + 2> /dev/null || sleep 0.1
done
rm -rf "$state"
