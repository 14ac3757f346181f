// What the calls of the ELBv2 API have in common: lists, pages, and whose each resource is.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const (
	elbPageSize = 400 // the default of every list, and its largest page
	elbMaxARNs  = 20  // in one call of DescribeTags or DescribeLoadBalancers
)

// members is a list in an answer, whose element is there even when it is empty.
type members[T any] struct {
	Member []T `xml:"member"`
}

// listOf reads the list NAME.member.N.
func listOf(form url.Values, name string) []string {
	var list []string
	for i := 1; form.Has(name + ".member." + strconv.Itoa(i)); i++ {
		list = append(list, form.Get(name+".member."+strconv.Itoa(i)))
	}
	return list
}

// elbInvalid is the answer to a call that makes no sense.
func elbInvalid(format string, values ...any) *awsError {
	return validationError(fmt.Sprintf(format, values...))
}

func groupNotFound(message string) *awsError {
	return &awsError{http.StatusBadRequest, "TargetGroupNotFound", message}
}

func balancerNotFound(wanted ...string) *awsError {
	return &awsError{http.StatusBadRequest, "LoadBalancerNotFound", "Load balancers '[" + strings.Join(wanted, ", ") + "]' not found"}
}

// sees reports whether a resource is of the caller's account and region.
func (c elbCall) sees(arn string) bool {
	return chain.AccountOf(arn) == c.caller.AccountID && chain.RegionOf(arn) == c.caller.Region
}

// invalid is the answer to an ARN that is not of a kind, or of another account or region than the caller's; nil when it is good.
func (c elbCall) invalid(kind, arn string) *awsError {
	if c.sees(arn) && strings.Contains(arn, ":"+elbService+":") && arnPart(arn, 0) == elbKinds[kind] {
		return nil
	}
	return elbInvalid("'%s' is not a valid %s ARN", arn, kind)
}

// choose returns the ARNs, sorted, of what the caller sees and wants by ARN or name, or of all that it sees when it wants nothing in particular; and what it wants in vain.
func choose[R interface{ Name() string }](c elbCall, all map[string]R, wanted []string) (chosen, missing []string) {
	missing = slices.Clone(wanted)
	for arn, resource := range all {
		isThis := func(w string) bool { return w == arn || w == resource.Name() }
		if c.sees(arn) && (len(wanted) == 0 || slices.ContainsFunc(wanted, isThis)) {
			chosen, missing = append(chosen, arn), slices.DeleteFunc(missing, isThis)
		}
	}
	slices.Sort(chosen)
	return chosen, missing
}

// elbKinds are the first parts of resources in ARNs.
var elbKinds = map[string]string{"target group": "targetgroup", "load balancer": "loadbalancer", "listener": "listener"}

// page cuts the page that a call asks for out of sorted names; next names the last one shown, opaquely, and is "" on the last page.
func (c elbCall) page(names []string) (page []string, next string, fault *awsError) {
	size := elbPageSize
	if text := c.form.Get("PageSize"); text != "" {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil || n < 1:
			return nil, "", constraint("pageSize", text, "have value greater than or equal to 1")
		case n > elbPageSize:
			return nil, "", constraint("pageSize", text, "have value less than or equal to "+strconv.Itoa(elbPageSize))
		}
		size = n
	}
	after, err := base64.URLEncoding.DecodeString(c.form.Get("Marker"))
	if err != nil {
		return nil, "", elbInvalid("Invalid marker")
	}
	start, _ := slices.BinarySearch(names, string(after)+"\x00")
	page = names[start:]
	if len(page) > size {
		page = page[:size]
		next = base64.URLEncoding.EncodeToString([]byte(page[size-1]))
	}
	return page, next, nil
}

// group finds the group of the call's TargetGroupArn.
func (s *State) group(c elbCall) (*TargetGroup, *awsError) {
	arn := c.form.Get("TargetGroupArn")
	if fault := c.invalid("target group", arn); fault != nil {
		return nil, fault
	}
	if g := s.ELB.groups[arn]; g != nil {
		return g, nil
	}
	return nil, groupNotFound("Target groups '" + arn + "' not found")
}

// balancer finds the load balancer of the call's LoadBalancerArn.
func (s *State) balancer(c elbCall) (*LoadBalancer, *awsError) {
	arn := c.form.Get("LoadBalancerArn")
	if fault := c.invalid("load balancer", arn); fault != nil {
		return nil, fault
	}
	if l := s.ELB.balancers[arn]; l != nil {
		return l, nil
	}
	return nil, balancerNotFound(arn)
}

// elbPair is an attribute or a tag.
type elbPair struct{ Key, Value string }

// pairsOf lists a map by key.
func pairsOf(values map[string]string) members[elbPair] {
	var pairs []elbPair
	for key, value := range values {
		pairs = append(pairs, elbPair{key, value})
	}
	slices.SortFunc(pairs, func(a, b elbPair) int { return strings.Compare(a.Key, b.Key) })
	return members[elbPair]{pairs}
}
