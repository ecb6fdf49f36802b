// Package kubernetes tests the Helm chart in a real Kubernetes, which scripts/soak-kubernetes.sh
// builds and isolates: etcd, the servers of the control plane, and nodes with a kubelet and a
// containerd each.
package kubernetes
