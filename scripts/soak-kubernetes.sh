#!/usr/bin/env bash
# The Helm chart in a real Kubernetes on this machine, below clients: see integration/kubernetes.
# Needs root on Debian, and cgroups of version 1; installs etcd, containerd, runc and
# the CNI plugins, and builds Kubernetes and Helm from their Go modules in .cache/kubernetes, which takes
# half an hour the first time.
#
# All of it runs in namespaces of its own for processes, mounts and the network, and ends with
# this script. MILLRACE_KEEP=yes keeps the logs of a run that failed.
set -euo pipefail
cd "$(dirname "$0")/.."
version=1.32.9 helm=v3.22.0
programs=$PWD/.cache/kubernetes/$version

if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
	echo 'the soak in Kubernetes needs root on Debian, for namespaces and containerd' >&2
	exit 1
fi

if [[ ! -d /sys/fs/cgroup/memory ]]; then
	echo 'the soak in Kubernetes needs cgroups of version 1: its nodes each have a part of them' >&2
	exit 1
fi

install_packages() {
	local missing=()
	while read -r program package; do
		command -v "$program" >/dev/null || missing+=("$package")
	done <<-END
		etcd etcd-server
		containerd containerd
		runc runc
		/usr/lib/cni/bridge containernetworking-plugins
		ip iproute2
		openssl openssl
	END
	[[ ${#missing[@]} -gt 0 ]] || return 0
	apt-get update
	# Nothing of it is started for the machine.
	RUNLEVEL=1 apt-get install -y --no-install-recommends "${missing[@]}"
}

# The module of Kubernetes takes its parts from folders that a module does not have.
build_kubernetes() {
	[[ ! -e $programs/done ]] || return 0
	local module source=$programs/source
	mkdir -p "$programs"
	module=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	rm -rf "$source"
	cp -r --no-preserve=mode "$module" "$source"
	rm -rf "$source"/{vendor,go.work,go.work.sum}
	sed -i -E "/k8s.io\/sample-/d; s#=> ./staging/src/(k8s.io/[a-z-]+)#=> \1 v0.${version#1.}#" "$source/go.mod"
	(
		cd "$source"
		# One compiler at a time: linking these takes gigabytes.
		nice go build -mod=mod -p 1 -trimpath -o "$programs/" \
			-ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$version -X k8s.io/client-go/pkg/version.gitVersion=v$version" \
			./cmd/kube-apiserver ./cmd/kube-controller-manager ./cmd/kube-scheduler ./cmd/kubelet ./cmd/kubectl
	)
	GOBIN=$programs nice go install -p 1 -trimpath "helm.sh/helm/v3/cmd/helm@$helm"
	rm -rf "$source"
	touch "$programs/done"
}

# An image as `docker save` writes it: a folder is its only layer.
image() { # name, folder, configuration in JSON
	local layout digest
	layout=$(mktemp -d -p "$work")
	tar -C "$2" --numeric-owner -cf "$layout/layer.tar" .
	digest=$(sha256sum "$layout/layer.tar" | cut -d' ' -f1)
	printf '{"architecture": "%s", "os": "linux", "config": %s, "rootfs": {"type": "layers", "diff_ids": ["sha256:%s"]}}' \
		"$(go env GOARCH)" "$3" "$digest" >"$layout/config.json"
	printf '[{"Config": "config.json", "RepoTags": ["%s"], "Layers": ["layer.tar"]}]' "$1" >"$layout/manifest.json"
	tar -C "$layout" -cf "$work/${1%%:*}.image" manifest.json config.json layer.tar
	rm -rf "$layout"
}

# What the Dockerfile makes: its line that builds the program, with another folder than /out, and its configuration.
image_of_edge() {
	local root=$work/root build user variables command
	build=$(sed -n "s|^    \(go build .*\) /out\(/[^ ]*\) \(.*\)\$|\1 '$root\2' \3|p" Dockerfile)
	[[ $build == *'-o '* ]] || { echo "the Dockerfile has no line that builds the program" >&2; exit 1; }
	CGO_ENABLED=0 eval "$build"
	deploy/container/root.sh "$root"
	user=$(sed -n 's/^USER //p' Dockerfile)
	chown "$user" "$root/data" "$root/config"
	variables=$(sed -n 's/^ENV //p' Dockerfile | sed 's/ /", "/g')
	command=$(sed -n 's/^CMD //p' Dockerfile)
	image "millrace:$(sed -n 's/^appVersion: "*\([^"]*\)"*$/\1/p' deploy/chart/millrace/Chart.yaml)" "$root" \
		"{\"User\": \"$user\", \"WorkingDir\": \"/data\", \"Env\": [\"$variables\"], \"Entrypoint\": [\"/usr/bin/millrace\"], \"Cmd\": $command}"
	rm -rf "$root"
}

# The process that keeps the namespaces of a pod.
image_of_pause() {
	local source=$work/pause
	mkdir -p "$source/root"
	cat >"$source/main.go" <<-END
		package main

		import (
			"os"
			"os/signal"
			"syscall"
		)

		func main() {
			stop := make(chan os.Signal, 1)
			signal.Notify(stop, syscall.SIGTERM)
			<-stop
		}
	END
	CGO_ENABLED=0 go build -trimpath -o "$source/root/pause" "$source/main.go"
	image pause:soak "$source/root" '{"User": "65535:65535", "Entrypoint": ["/pause"]}'
	rm -rf "$source"
}

# Children of a killed process may take a moment.
remove_cgroups() {
	local try group
	for try in {1..50}; do
		find /sys/fs/cgroup -depth -type d -path "*/${work##*/}*" -exec rmdir {} + 2>/dev/null || true
		group=$(find /sys/fs/cgroup -type d -path "*/${work##*/}" -print -quit 2>/dev/null)
		[[ -n $group ]] || return 0
		sleep 0.2
	done
	echo "$group remains" >&2
}

if [[ ${1:-} == inside ]]; then
	# Everything that starts here ends with this process, and so do mounts and networks.
	export MILLRACE_KUBERNETES=$programs MILLRACE_KUBERNETES_WORK=$2
	mount -t tmpfs tmpfs /run
	mkdir /run/netns
	echo 'nameserver 10.90.0.1' >/run/resolv.conf
	mount --bind /run/resolv.conf "$(realpath /etc/resolv.conf)"
	echo 1 >/proc/sys/net/ipv4/ip_forward
	cd integration/kubernetes
	exec "$2/kubernetes.test" -test.v -test.timeout "${MILLRACE_SOAK_TIME:-60m}"
fi

install_packages
build_kubernetes
work=$(mktemp -d /tmp/millrace-kubernetes-XXXXXX)
ended() {
	local status=$?
	remove_cgroups
	if [[ $status -ne 0 && -n ${MILLRACE_KEEP:-} ]]; then
		echo "the logs are in $work" >&2
	else
		rm -rf --one-file-system "$work"
	fi
}
trap ended EXIT
image_of_edge
image_of_pause
go test -c -o "$work/kubernetes.test" ./integration/kubernetes
unshare --mount --propagation private --net --pid --fork --kill-child --mount-proc "$0" inside "$work"
