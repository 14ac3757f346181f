// ARNs, partitions and regions: their shapes, and that they belong together.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
	"github.com/eks-slo/eks-slo-exporter/internal/diag"
)

// regionShape is two letters (or eusc, the European Sovereign Cloud), words, and one digit.
var regionShape = regexp.MustCompile(`^(?:[a-z]{2}|eusc)(?:-[a-z]+)+-\d$`)

var accountShape = regexp.MustCompile(`^\d{12}$`)

// arnKind is what an ARN must name.
type arnKind struct {
	service  string
	regional bool // its ARNs have a region; those of IAM have none
	what     string
	shape    *regexp.Regexp // of the ARN's resource
	example  string
}

// Kinds of ARN (IAM API reference: path, RoleName, UserName; Service Authorization Reference, Elastic Load Balancing V2: resource types).
var (
	aRole = arnKind{
		service: "iam", what: "an IAM role", shape: regexp.MustCompile(`^role/(?:[!-~]+/)?[\w+=,.@-]{1,64}$`),
		example: "arn:aws:iam::111122223333:role/NAME",
	}
	aRoleOrUser = arnKind{
		service: "iam", what: "an IAM role or user", shape: regexp.MustCompile(`^(?:role|user)/(?:[!-~]+/)?[\w+=,.@-]{1,64}$`),
		example: "arn:aws:iam::111122223333:role/NAME",
	}
	aTargetGroup = arnKind{
		service: "elasticloadbalancing", regional: true, what: "a target group", shape: regexp.MustCompile(`^targetgroup/[A-Za-z0-9-]{1,32}/[0-9a-f]+$`),
		example: "arn:aws:elasticloadbalancing:REGION:111122223333:targetgroup/NAME/ID",
	}
	aLoadBalancer = arnKind{
		service: "elasticloadbalancing", regional: true, what: "a load balancer", shape: regexp.MustCompile(`^loadbalancer/(?:app|net|gwy)/[A-Za-z0-9-]{1,32}/[0-9a-f]+$`),
		example: "arn:aws:elasticloadbalancing:REGION:111122223333:loadbalancer/app/NAME/ID",
	}
)

// arn reads an ARN; "" when it is not given or wrong.
func (d *decoder) arn(f diag.Fields, key string, kind arnKind) string {
	text := f.Text(key)
	if text == "" || !d.checkARN(f, key, text, kind) {
		return ""
	}
	return text
}

// checkARN reports the first thing that is wrong with an ARN.
func (d *decoder) checkARN(f diag.Fields, key, text string, kind arnKind) bool {
	at, parts := f.At(key), strings.SplitN(text, ":", 6)
	switch {
	case len(parts) != 6 || parts[0] != "arn":
		d.Report(at, arnShape, text, kind.example)
	case !slices.Contains(chain.Partitions(), parts[1]):
		d.Report(at, arnPartition, parts[1], text, partitionHint())
	case kind.service == "iam" && chain.CanonicalARN(text) != text:
		d.Report(at, arnSession, text, chain.CanonicalARN(text))
	case parts[2] != kind.service:
		d.Report(at, arnService, text, parts[2], kind.service, kind.example)
	case kind.regional && (!regionShape.MatchString(parts[3]) || chain.PartitionOfRegion(parts[3]) != parts[1]):
		d.Report(at, arnRegion, parts[3], text, parts[1])
	case !accountShape.MatchString(parts[4]):
		d.Report(at, arnAccount, parts[4], text)
	case !kind.regional && parts[3] != "" || !kind.shape.MatchString(parts[5]):
		d.Report(at, arnResource, text, kind.what, kind.example)
	default:
		return true
	}
	return false
}

func partitionHint() string {
	names := chain.Partitions()
	slices.Sort(names)
	return "partitions: " + strings.Join(names, ", ")
}

// foreignPartition returns the first partition among an identity's ARNs that is not that of a region; "" when all fit or nothing is known.
func foreignPartition(identity chain.Identity, region string) string {
	home := chain.PartitionOfRegion(region)
	arns := []string{identity.RoleARN}
	for _, hop := range identity.Hops {
		arns = append(arns, hop.RoleARN)
	}
	for _, arn := range append(arns, identity.ExpectPrincipal) {
		if p := chain.PartitionOf(arn); p != "" && region != "" && p != home {
			return p
		}
	}
	return ""
}

// placed is what must be in the partition of its region: who has to fit, and what it has to fit to.
type placed struct{ who, what, name, region string }

func (d *decoder) crossPartition(at diag.Place, identity, foreign string, p placed) {
	home := chain.PartitionOfRegion(p.region)
	d.Report(at, crossPartition, identity, foreign, p.what, p.name, home, p.who, home)
}
