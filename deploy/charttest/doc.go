// Package charttest tests the Helm chart in deploy/chart/millrace, in a module of its own:
// Helm and the types of Kubernetes do not belong to the product. scripts/chart.sh runs it.
package charttest
