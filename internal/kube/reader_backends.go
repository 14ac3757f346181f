// What a binding's controller should register: the endpoints of its service's port, or the nodes, chosen as the AWS Load Balancer Controller chooses them (pkg/backend, pkg/targetgroupbinding).
//
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// Backends reads the binding's service and its EndpointSlices and, for a TargetType of instance, the nodes. It reads the binding anew for what chain.Binding does not tell: the address family of
// its group, and its nodeSelector.
//
// Endpoints that are no pods' are left out and counted, and so are addresses of the other family. A service without the binding's port has neither endpoints nor a node port.
func (r *Reader) Backends(ctx context.Context, reads ClusterReads, binding chain.Binding) (chain.Backends, error) {
	w, _, err := r.wireBinding(ctx, reads, binding.BindingRef)
	if err != nil {
		return chain.Backends{}, err
	}
	s, err := r.session(reads)
	if err != nil {
		return chain.Backends{}, err
	}
	service, found, err := s.service(ctx, binding)
	if err != nil || !found {
		return chain.Backends{}, err
	}
	backends := chain.Backends{Service: chain.Service{
		Found: true, Type: chain.Redact(string(service.Spec.Type)), Selector: service.Spec.Selector, Local: service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal,
	}}
	if port, found := portOf(service, binding.Port); found {
		backends.Service.NodePort = port.NodePort
		if backends.Endpoints, backends.Unfit, err = s.endpoints(ctx, binding, port.Name, familyOf(w)); err != nil {
			return chain.Backends{}, err
		}
	} else {
		backends.Service.Ports = portsOf(service)
	}
	if binding.TargetType == chain.TargetTypeInstance {
		if backends.Nodes, err = s.nodes(ctx, w.Spec.NodeSelector); err != nil {
			return chain.Backends{}, err
		}
	}
	return backends, nil
}

func (s session) service(ctx context.Context, binding chain.Binding) (service *corev1.Service, found bool, err error) {
	q := question{"get", "services", binding.Namespace, binding.Service, "Service"}
	_, found, err = s.read(ctx, q, func(ctx context.Context) (err error) {
		service, err = s.core.Services(binding.Namespace).Get(ctx, binding.Service, metav1.GetOptions{})
		if err == nil && service.Name != binding.Service {
			return errOtherObject
		}
		return err
	})
	return service, found, err
}

// portOf finds the service port that a binding names, by number or name (pkg/k8s LookupServicePort).
func portOf(service *corev1.Service, text string) (corev1.ServicePort, bool) {
	want := intstr.Parse(text)
	i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool {
		return want.Type == intstr.Int && p.Port == want.IntVal || want.Type == intstr.String && p.Name == want.StrVal
	})
	if i < 0 {
		return corev1.ServicePort{}, false
	}
	return service.Spec.Ports[i], true
}

// portsOf names a service's ports, for people.
func portsOf(service *corev1.Service) []string {
	names := []string{}
	for _, port := range service.Spec.Ports {
		name := strconv.Itoa(int(port.Port))
		if port.Name != "" {
			name += " (" + chain.Redact(port.Name) + ")"
		}
		names = append(names, name)
	}
	return names
}

// familyOf is the family of the addresses that the controller registers: IPv4 unless the binding says otherwise.
func familyOf(w wireBinding) discoveryv1.AddressType {
	if w.Spec.IPAddressType == "ipv6" {
		return discoveryv1.AddressTypeIPv6
	}
	return discoveryv1.AddressTypeIPv4
}

// endpoints reads all slices of the service.
func (s session) endpoints(ctx context.Context, binding chain.Binding, port string, family discoveryv1.AddressType) (endpoints []chain.Endpoint, unfit chain.Unfit, err error) {
	all := endpointSet{places: map[endpointKey]int{}}
	selectors := metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + binding.Service}
	q := question{verb: "list", resource: "endpointslices.discovery.k8s.io", namespace: binding.Namespace, kind: "EndpointSliceList"}
	err = s.list(ctx, q, selectors, func(ctx context.Context, options metav1.ListOptions) (string, error) {
		page, err := s.discovery.EndpointSlices(binding.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for _, slice := range page.Items {
			if slice.AddressType == family {
				all.add(endpointsOf(slice, port, &unfit))
			} else {
				unfit.Family += len(slice.Endpoints)
			}
		}
		return page.Continue, nil
	})
	if err != nil {
		return nil, chain.Unfit{}, err
	}
	return all.endpoints, unfit, nil
}

// endpointSet keeps one of each endpoint. While it moves from one slice to another it may be in both: then it is ready if it is so in either.
type endpointSet struct {
	endpoints []chain.Endpoint
	places    map[endpointKey]int
}

type endpointKey struct {
	address string
	port    int32
}

func (s *endpointSet) add(endpoints []chain.Endpoint) {
	for _, e := range endpoints {
		key := endpointKey{e.Address, e.Port}
		place, known := s.places[key]
		switch {
		case !known:
			s.places[key] = len(s.endpoints)
			s.endpoints = append(s.endpoints, e)
		case e.Ready && !s.endpoints[place].Ready:
			s.endpoints[place] = e
		}
	}
}

// endpointsOf are a slice's endpoints at the port of a service port's name; a service port without a name is the only one. Only an endpoint's first address counts (discovery.k8s.io/v1 Endpoint).
func endpointsOf(slice discoveryv1.EndpointSlice, name string, unfit *chain.Unfit) (all []chain.Endpoint) {
	ports := slices.DeleteFunc(slices.Clone(slice.Ports), func(p discoveryv1.EndpointPort) bool { return name != "" && name != valueOf(p.Name) })
	if len(ports) == 0 {
		unfit.Port += len(slice.Endpoints)
	}
	for _, port := range ports {
		for _, e := range slice.Endpoints {
			if len(e.Addresses) == 0 || e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
				unfit.NoPod++
				continue
			}
			all = append(all, chain.Endpoint{
				Address: chain.Redact(e.Addresses[0]), Port: valueOf(port.Port),
				Ready:       e.Conditions.Ready == nil || *e.Conditions.Ready, // "A nil value should be interpreted as true"
				Terminating: valueOf(e.Conditions.Terminating),
				Pod:         chain.Redact(e.TargetRef.Name), Node: chain.Redact(valueOf(e.NodeName)), Zone: chain.Redact(valueOf(e.Zone)),
			})
		}
	}
	return all
}

// valueOf is what a pointer points to; the zero value when it is nil.
func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}
