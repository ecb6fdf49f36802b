package charttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const (
	chartDir  = "../chart/millrace"
	release   = "millrace"
	namespace = "edges"
)

// values are the sets of values that docs/how-to/kubernetes.md names.
var values = []string{"one", "three", "three-common", "beside", "trial"}

func valuesOf(t *testing.T, set string) map[string]any {
	t.Helper()
	v, err := chartutil.ReadValuesFile(filepath.Join(chartDir, "ci", set+"-values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// render renders the chart as `helm template` does: file name to text. With kinds, such as
// "apps/v1/StatefulSet", it renders as in a cluster that has these.
func render(values map[string]any, kinds ...string) (map[string]string, error) {
	chart, err := loader.LoadDir(chartDir)
	if err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = append(slices.Clone(capabilities.APIVersions), kinds...)
	all, err := chartutil.ToRenderValues(chart, values, options, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, all)
}

// objects are what a set of values makes, decoded strictly: an unknown field, a field
// that is there twice, or a wrong type is an error.
type objects struct {
	configs  []core.ConfigMap
	sets     []apps.StatefulSet
	services []core.Service
	budgets  []policy.PodDisruptionBudget
	policies []networking.NetworkPolicy
	monitors []monitoring.ServiceMonitor
	jobs     []batch.Job
	rules    []monitoring.PrometheusRule
	notes    string
}

func decode(t *testing.T, files map[string]string) (o objects) {
	t.Helper()
	for name, text := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			o.notes = text
			continue
		}
		for document := range strings.SplitSeq(text, "\n---\n") {
			var head struct{ APIVersion, Kind string }
			if err := yaml.Unmarshal([]byte(document), &head); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			if err := o.add(head.APIVersion+" "+head.Kind, []byte(document)); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
		}
	}
	return o
}

func (o *objects) add(kind string, document []byte) error {
	switch kind {
	case " ": // a template that makes nothing for these values
		return nil
	case "v1 ConfigMap":
		return add(&o.configs, document)
	case "apps/v1 StatefulSet":
		return add(&o.sets, document)
	case "v1 Service":
		return add(&o.services, document)
	case "policy/v1 PodDisruptionBudget":
		return add(&o.budgets, document)
	case "networking.k8s.io/v1 NetworkPolicy":
		return add(&o.policies, document)
	case "batch/v1 Job":
		return add(&o.jobs, document)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return add(&o.monitors, document)
	case "monitoring.coreos.com/v1 PrometheusRule":
		return add(&o.rules, document)
	default:
		return fmt.Errorf("unexpected kind %q", kind)
	}
}

func add[T any](list *[]T, document []byte) error {
	var object T
	if err := yaml.UnmarshalStrict(document, &object); err != nil {
		return err
	}
	*list = append(*list, object)
	return nil
}

func objectsOf(t *testing.T, set string) objects {
	t.Helper()
	files, err := render(valuesOf(t, set))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, files)
}

func TestLint(t *testing.T) {
	for _, set := range values {
		result := lint.All(chartDir, valuesOf(t, set), namespace, true)
		for _, m := range result.Messages {
			if m.Severity > support.InfoSev || m.Err != nil {
				t.Errorf("%s: %s", set, m)
			}
		}
	}
}

// The list above, the files of values and the page name the same sets.
func TestSetsOfValuesAreDocumented(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(chartDir, "ci", "*-values.yaml"))
	if err != nil || len(files) != len(values) {
		t.Errorf("ci has %d files of values, want %d; %v", len(files), len(values), err)
	}
	page, err := os.ReadFile("../../docs/how-to/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range values {
		if !strings.Contains(string(page), set+"-values.yaml") {
			t.Errorf("docs/how-to/kubernetes.md does not name %s-values.yaml", set)
		}
	}
}
