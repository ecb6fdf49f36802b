#!/usr/bin/env bash
# A node of the cluster that integration/kubernetes starts: a kubelet and a containerd in
# namespaces of their own for processes, mounts, the network and cgroups. Whoever kills this
# process with SIGKILL cuts the node's power: all that runs on it ends with it.
#
#	scripts/kubernetes-node.sh NUMBER FOLDER PROGRAMS NODES
#
# Nodes reach each other at 10.90.0.NUMBER, over the bridge `nodes`; their pods have addresses
# in 10.91.NUMBER.0/24. FOLDER has the images, the file kubeconfig-NUMBER, and what the
# disk of the node keeps.
set -euo pipefail
[[ ${1:-} == inside ]] && shift && inside=yes
number=$1 folder=$2 programs=$3 nodes=$4
name=node-$number disk=$folder/$name

if [[ -z ${inside:-} ]]; then
	ip netns delete "$name" 2>/dev/null || true # of the node before it was killed
	ip link delete "link-$number" 2>/dev/null || true
	ip netns add "$name"
	ip link add "link-$number" type veth peer name eth0 netns "$name"
	ip link set "link-$number" master nodes up
	ip -n "$name" link set lo up
	ip -n "$name" address add "10.90.0.$number/24" dev eth0
	ip -n "$name" link set eth0 up
	ip -n "$name" route add default via 10.90.0.1
	for ((other = 2; other < nodes + 2; other++)); do
		[[ $other == "$number" ]] || ip -n "$name" route add "10.91.$other.0/24" via "10.90.0.$other"
	done
	mapfile -t groups < <(sed -n 's/^[0-9]*:\(name=\)\?\([a-z_,]\+\):/\2/p' /proc/self/cgroup)
	for group in "${groups[@]}"; do # such as memory/path
		controller=${group%%/*}
		group=/sys/fs/cgroup/$group/${folder##*/}/$name
		mkdir -p "$group"
		if [[ $controller == cpuset ]]; then
			for part in "${group%/*}" "$group"; do
				for file in cpuset.cpus cpuset.mems; do cat "$part/../$file" >"$part/$file"; done
			done
		fi
		echo $$ >"$group/cgroup.procs"
	done
	exec nsenter --net="/run/netns/$name" unshare --mount --pid --cgroup --fork --kill-child --mount-proc "$0" inside "$@"
fi

mount --make-rprivate /
mapfile -t controllers < <(sed -n 's/^[0-9]*:\([a-z_,=]\+\):.*/\1/p' /proc/self/cgroup)
mount -t tmpfs tmpfs /sys/fs/cgroup
for controller in "${controllers[@]}"; do
	group=/sys/fs/cgroup/${controller#name=} # what this node may see of it
	mkdir "$group"
	mount -t cgroup -o "${controller/#name=/none,name=}" cgroup "$group"
done
mount -t tmpfs tmpfs /run # after a loss of power it is empty
for path in lib/kubelet lib/containerd lib/cni log/pods log/containers; do
	mkdir -p "$disk/$path" "/var/$path"
	mount --bind "$disk/$path" "/var/$path"
done
mkdir -p /run/cni /run/kubernetes /run/sysctl
# What a kubelet sets otherwise, for the whole machine.
while read -r setting value; do
	echo "$value" >"/run/sysctl/${setting##*/}"
	mount --bind "/run/sysctl/${setting##*/}" "/proc/sys/$setting"
done <<-END
	vm/overcommit_memory 1
	vm/panic_on_oom 0
	kernel/panic 10
	kernel/panic_on_oops 1
	kernel/keys/root_maxkeys 1000000
	kernel/keys/root_maxbytes 25000000
END
mount --make-rshared /
echo 1 >/proc/sys/net/ipv4/ip_forward

cat >/run/cni/pods.conflist <<END
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{
	"type": "bridge", "bridge": "pods", "isGateway": true,
	"ipam": {"type": "host-local", "ranges": [[{"subnet": "10.91.$number.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}
}]}
END
cat >/run/containerd.toml <<END
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "pause:soak"
  restrict_oom_score_adj = true # this machine may not allow less
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/run/cni"
END
containerd --config /run/containerd.toml >>"$disk/containerd.log" 2>&1 &
until ctr version >/dev/null 2>&1; do sleep 0.2; done
for image in "$folder"/*.image; do
	[[ -e $disk/imported ]] || ctr -n k8s.io images import "$image" >>"$disk/containerd.log"
done
touch "$disk/imported"

cat >/run/kubelet.yaml <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: true}
  webhook: {enabled: false}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
clusterDNS: [10.90.0.1]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
failSwapOn: false
makeIPTablesUtilChains: false
# The disk of this machine is not the subject.
evictionHard: {memory.available: "0%", nodefs.available: "0%", imagefs.available: "0%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
# A node that is killed is noticed sooner than after 40 s.
nodeLeaseDurationSeconds: 8
nodeStatusUpdateFrequency: 2s
END
"$programs/kubelet" --config /run/kubelet.yaml --kubeconfig "$folder/kubeconfig-$number" \
	--hostname-override "$name" --node-ip "10.90.0.$number" --cert-dir /run/kubernetes >>"$disk/kubelet.log" 2>&1 &
wait -n # as the first process here, this one also takes leave of orphans
