#!/bin/sh
# prepare-namespace.sh STATE COMMAND...
# First in the cluster's own namespaces: makes them a machine of its own, then becomes the command.
set -eu
state=$1
shift

# What containerd, the kubelet and CNI plugins write to fixed places goes to the cluster's directory.
for place in var/lib var/log run; do
  upper=$state/overlays/$place
  mkdir -p "$upper/upper" "$upper/work"
  mount -t overlay overlay -o "lowerdir=/$place,upperdir=$upper/upper,workdir=$upper/work" "/$place"
done

# The kubelet sets these for the whole machine when it starts. It may set a copy.
mkdir -p "$state/sysctls"
for key in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  copy=$state/sysctls/$(echo "$key" | tr / .)
  cat "/proc/sys/$key" > "$copy"
  mount --bind "$copy" "/proc/sys/$key"
done

# One bridge is the node's address and the pods' gateway: a node may not have a loopback address.
ip link set lo up
ip link add kube0 type bridge
ip addr add 10.244.0.1/24 dev kube0
ip link set kube0 up
# An address that nobody answers for, so that programs which look for a way out find one.
ip route add default dev kube0

exec "$@"
