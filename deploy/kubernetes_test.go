package deploy

import (
	"cmp"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:generate sh -c "cd testdata/strict && go run . schema >../kubernetes.schema.json"

// Each object has only fields of its type in k8s.io/api. testdata/strict generates the schema of these types (go generate
// ./deploy), since compiling the modules of Kubernetes takes longer than all tests in this folder.
func TestKubernetesSchema(t *testing.T) {
	t.Parallel()
	objects := kubernetesObjects(t)
	for name, object := range objects {
		kind := object["apiVersion"].(string) + "/" + object["kind"].(string)
		if strings.HasPrefix(kind, "monitoring.coreos.com/") || strings.HasPrefix(kind, "gateway.networking.k8s.io/") || strings.HasPrefix(kind, "postgresql.cnpg.io/") {
			continue // created by an operator
		}
		s := schema(t, "testdata/kubernetes.schema.json", "/$defs/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(kind))
		if err := s.Validate(any(object)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		object["spce"] = map[string]any{}
		if s.Validate(any(object)) == nil {
			t.Errorf("%s: an unknown field is accepted", name)
		}
	}
}

// kubernetesObjects returns the objects in all files of the kustomization, by kind and name.
func kubernetesObjects(t testing.TB) map[string]map[string]any {
	t.Helper()
	kustomization := readFile(t, "kubernetes/kustomization.yaml")
	files, err := filepath.Glob("kubernetes/*.yaml")
	must(t, err)
	objects := make(map[string]map[string]any)
	for _, file := range files {
		base := filepath.Base(file)
		if base == "kustomization.yaml" {
			continue
		}
		if !strings.Contains(kustomization, base) {
			t.Errorf("the kustomization does not name %s", base)
		}
		for _, object := range documents(t, file) {
			objects[object["kind"].(string)+" "+object["metadata"].(map[string]any)["name"].(string)] = object
		}
	}
	return objects
}

func TestKubernetesAgrees(t *testing.T) {
	t.Parallel()
	objects := kubernetesObjects(t)
	var settings struct{ Data map[string]string }
	into(t, objects["ConfigMap limnomap"], &settings)
	type container struct {
		Env   []struct{ Name, Value string }
		Ports []struct{ Name string }
		Args  []string
	}
	type template struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			TerminationGracePeriodSeconds int
			Containers                    []container
		}
	}
	var server struct {
		Spec struct {
			Selector struct{ MatchLabels map[string]string }
			Template template
		}
	}
	into(t, objects["Deployment limnomap"], &server)
	labels, pod := server.Spec.Template.Metadata.Labels, server.Spec.Template.Spec
	var ports []string
	for _, port := range pod.Containers[0].Ports {
		ports = append(ports, port.Name)
	}

	var variables []string
	for name := range settings.Data {
		variables = append(variables, name)
	}
	for _, v := range pod.Containers[0].Env {
		variables = append(variables, v.Name)
	}
	wantVariables(t, "the deployment", strings.Join(variables, " "), "serve")
	for _, db := range []string{"postgres://limnomap:secret@postgres/limnomap", "postgres://limnomap:secret@limnomap-db-ro,limnomap-db-rw/limnomap?target_session_attrs=prefer-standby"} {
		settings.Data["LIMNOMAP_DB"] = db // as in the secret
		wantAccepted(t, "the deployment", settings.Data, pod.Containers[0].Args[0])
	}
	var job struct {
		Spec struct {
			JobTemplate struct{ Spec struct{ Template template } }
		}
	}
	into(t, objects["CronJob limnomap-refresh"], &job)
	refresh := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	environment := make(map[string]string)
	for _, v := range refresh.Env {
		wantVariables(t, "the refresh", v.Name, refresh.Args[0])
		environment[v.Name] = cmp.Or(v.Value, settings.Data[v.Name])
	}
	wantAccepted(t, "the refresh", environment, refresh.Args[0])

	drain := duration(t, settings.Data["LIMNOMAP_DRAIN"])
	if grace := float64(pod.TerminationGracePeriodSeconds); grace <= (drain + stopping(t)).Seconds() {
		t.Errorf("pods get %v s to end, and need %v and more", grace, drain+stopping(t))
	}
	selects := func(name string, selector map[string]string) {
		for label, value := range selector {
			if labels[label] != value {
				t.Errorf("%s selects %s=%s, pods have %q", name, label, value, labels[label])
			}
		}
		if len(selector) == 0 {
			t.Errorf("%s selects all pods", name)
		}
	}
	selects("the deployment", server.Spec.Selector.MatchLabels)
	var budget struct {
		Spec struct {
			Selector struct{ MatchLabels map[string]string }
		}
	}
	into(t, objects["PodDisruptionBudget limnomap"], &budget)
	selects("the budget", budget.Spec.Selector.MatchLabels)
	for _, name := range []string{"limnomap", "limnomap-admin"} {
		var service struct {
			Spec struct {
				Selector map[string]string
				Ports    []struct{ TargetPort string }
			}
		}
		into(t, objects["Service "+name], &service)
		selects(name, service.Spec.Selector)
		for _, port := range service.Spec.Ports {
			if !slices.Contains(ports, port.TargetPort) {
				t.Errorf("service %s leads to port %q, pods have %q", name, port.TargetPort, ports)
			}
		}
	}
}

// The gateway leads to the same service as the ingress, for the same host and with the same certificate, and from HTTP to HTTPS.
func TestKubernetesGateway(t *testing.T) {
	t.Parallel()
	objects := kubernetesObjects(t)
	var ingress struct {
		Spec struct {
			TLS []struct {
				Hosts      []string
				SecretName string
			}
		}
	}
	into(t, objects["Ingress limnomap"], &ingress)
	var gateway struct {
		Spec struct {
			Listeners []struct {
				Name, Protocol, Hostname string
				Port                     int
				TLS                      struct{ CertificateRefs []struct{ Name string } }
			}
		}
	}
	into(t, objects["Gateway limnomap"], &gateway)
	host, secret := ingress.Spec.TLS[0].Hosts[0], ingress.Spec.TLS[0].SecretName
	listeners := make(map[string]string)
	for _, l := range gateway.Spec.Listeners {
		listeners[l.Name] = l.Protocol
		if l.Hostname != host || l.Protocol == "HTTPS" && (l.Port != 443 || len(l.TLS.CertificateRefs) != 1 || l.TLS.CertificateRefs[0].Name != secret) {
			t.Errorf("listener %+v, want the host %s and the secret %s", l, host, secret)
		}
	}
	for name, protocol := range map[string]string{"limnomap": "HTTPS", "limnomap-https": "HTTP"} {
		var route struct {
			Spec struct {
				ParentRefs []struct{ Name, SectionName string }
				Hostnames  []string
				Rules      []struct {
					BackendRefs []struct {
						Name string
						Port int
					}
					Filters []struct {
						RequestRedirect struct{ Scheme string }
					}
				}
			}
		}
		into(t, objects["HTTPRoute "+name], &route)
		if p := route.Spec.ParentRefs; len(p) != 1 || p[0].Name != "limnomap" || listeners[p[0].SectionName] != protocol || !slices.Equal(route.Spec.Hostnames, []string{host}) {
			t.Errorf("route %s of %v belongs to %v, want %s of %s", name, route.Spec.Hostnames, p, protocol, host)
		}
		for _, rule := range route.Spec.Rules {
			switch {
			case protocol == "HTTP" && (len(rule.BackendRefs) > 0 || rule.Filters[0].RequestRedirect.Scheme != "https"):
				t.Errorf("%s does more than to lead to HTTPS: %+v", name, rule)
			case protocol == "HTTPS":
				var service struct {
					Spec struct{ Ports []struct{ Port int } }
				}
				if len(rule.BackendRefs) == 1 {
					into(t, objects["Service "+rule.BackendRefs[0].Name], &service)
				}
				if len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Port != rule.BackendRefs[0].Port {
					t.Errorf("%s leads to %+v, which is no service", name, rule.BackendRefs)
				}
			}
		}
	}
}

// Pods trust only the addresses of some proxies, and reach no link-local address except for DNS: that is where clouds give a
// machine's credentials to any process on it.
func TestKubernetesNetwork(t *testing.T) {
	t.Parallel()
	objects := kubernetesObjects(t)
	var settings struct{ Data map[string]string }
	into(t, objects["ConfigMap limnomap"], &settings)
	for text := range strings.SplitSeq(settings.Data["LIMNOMAP_TRUSTED_PROXIES"], ",") {
		if trusted, err := netip.ParsePrefix(text); err != nil || trusted.Bits() < 24 {
			t.Errorf("pods trust the proxies in %s, %v, want 256 addresses at most", text, err)
		}
	}
	var policy struct {
		Spec struct {
			Egress []struct {
				Ports []struct{ Port int }
				To    []struct {
					IPBlock struct {
						CIDR   netip.Prefix
						Except []netip.Prefix
					}
				}
			}
		}
	}
	into(t, objects["NetworkPolicy limnomap"], &policy)
	found := false
	for _, rule := range policy.Spec.Egress {
		for _, port := range rule.Ports {
			if port.Port == 80 {
				t.Error("pods reach port 80, which has the credentials of the machine in some clouds")
			}
			if port.Port != 443 {
				continue
			}
			found = true
			for _, address := range []string{"169.254.169.254", "fe80::1", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200"} {
				for _, to := range rule.To {
					excluded := slices.ContainsFunc(to.IPBlock.Except, func(p netip.Prefix) bool { return p.Contains(netip.MustParseAddr(address)) })
					if to.IPBlock.CIDR.IsValid() && to.IPBlock.CIDR.Contains(netip.MustParseAddr(address)) && !excluded {
						t.Errorf("pods reach %s", address)
					}
				}
			}
			if len(rule.To) != 3 || !rule.To[0].IPBlock.CIDR.Contains(netip.MustParseAddr("192.0.2.1")) || !rule.To[1].IPBlock.CIDR.Contains(netip.MustParseAddr("2001:db8::1")) {
				t.Errorf("port 443 is open to %+v, want to sources of refreshes by IPv4 and IPv6, and to pods", rule.To)
			}
		}
	}
	if !found {
		t.Error("pods do not reach port 443, and so no source of a refresh")
	}
}
