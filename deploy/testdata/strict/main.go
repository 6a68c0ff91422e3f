// Command strict reads what operators deploy as the programs do that it is for, and refuses what these would not know: it
// builds a kustomization and decodes each object into the type that Kubernetes has for it, and it loads compositions of
// Docker's. It prints the objects, and the services of each composition by name, as JSON.
//
// It is a module of its own so that limnomap's does not require those of Kubernetes.
//
//	strict kustomize FOLDER
//	strict compose FILE [PROFILE...]
//	strict schema                   the JSON schema of all kinds below, in which all fields are known
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func main() {
	var out any
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "kustomize":
		out, err = kustomize(args[1])
	case len(args) >= 2 && args[0] == "compose":
		out, err = compose(args[1], args[2:])
	case len(args) == 1 && args[0] == "schema":
		out = schemas()
	default:
		fmt.Fprintln(os.Stderr, "strict: kustomize FOLDER, or compose FILE [PROFILE...], or schema")
		os.Exit(2)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "strict:", err)
		os.Exit(1)
	}
}

// kinds has the type of each kind of object that may be deployed.
var kinds = map[string]func() any{
	"v1/ConfigMap":                           func() any { return new(corev1.ConfigMap) },
	"v1/Service":                             func() any { return new(corev1.Service) },
	"apps/v1/Deployment":                     func() any { return new(appsv1.Deployment) },
	"autoscaling/v2/HorizontalPodAutoscaler": func() any { return new(autoscalingv2.HorizontalPodAutoscaler) },
	"batch/v1/CronJob":                       func() any { return new(batchv1.CronJob) },
	"networking.k8s.io/v1/Ingress":           func() any { return new(networkingv1.Ingress) },
	"networking.k8s.io/v1/NetworkPolicy":     func() any { return new(networkingv1.NetworkPolicy) },
	"policy/v1/PodDisruptionBudget":          func() any { return new(policyv1.PodDisruptionBudget) },
}

func kustomize(folder string) (objects []any, err error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	for _, resource := range built.Resources() {
		kind := resource.GetApiVersion() + "/" + resource.GetKind()
		make, ok := kinds[kind]
		if !ok {
			return nil, fmt.Errorf("%s: no type is known for %s", resource.GetName(), kind)
		}
		text, err := resource.AsYAML()
		if err != nil {
			return nil, err
		}
		object := make()
		if err := yaml.UnmarshalStrict(text, object); err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind, resource.GetName(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func compose(file string, profiles []string) (types.Services, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithOsEnv, cli.WithProfiles(profiles), cli.WithResolvedPaths(false))
	if err != nil {
		return nil, err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return nil, err
	}
	return project.Services, nil
}
