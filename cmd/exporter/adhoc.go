// An ad hoc target is described by flags instead of a configuration file.
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// adhoc holds the flags; the zero value means that none was given.
type adhoc struct {
	cluster, region, roleARN, profile string
	timeout                           time.Duration
}

const (
	adhocFlags   = "--cluster, --region, --role-arn, --profile and --timeout"
	adhocTimeout = 10 * time.Second
	adhocSession = 15 * time.Minute // the shortest that AssumeRole gives
)

func (a *adhoc) addFlags(cmd *kingpin.CmdClause) {
	cmd.Flag("cluster", "Ad hoc, without a configuration: the cluster's name at EKS.").StringVar(&a.cluster)
	cmd.Flag("region", "Ad hoc: the cluster's region. AWS_REGION is not used.").StringVar(&a.region)
	cmd.Flag("role-arn", "Ad hoc: the role to assume.").StringVar(&a.roleARN)
	cmd.Flag("profile", "Ad hoc: the profile to sign in with; the SDK's default chain when not given.").StringVar(&a.profile)
	cmd.Flag("timeout", fmt.Sprintf("Ad hoc: timeout of the run; %s when not given.", adhocTimeout)).DurationVar(&a.timeout)
}

// target makes the one target: the base credentials observe the cluster, and the role, when given, is under test.
func (a adhoc) target() (chain.Target, error) {
	switch {
	case a.cluster == "":
		return chain.Target{}, errors.New("probing ad hoc: no cluster is named; add --cluster")
	case a.roleARN != "" && (chain.AccountOf(a.roleARN) == "" || !strings.Contains(a.roleARN, ":role/")):
		return chain.Target{}, fmt.Errorf("reading --role-arn %q: it is no role's ARN; write arn:aws:iam::ACCOUNT:role/NAME", a.roleARN)
	case a.timeout < 0:
		return chain.Target{}, fmt.Errorf("reading --timeout %s: it must be above 0", a.timeout)
	case a.timeout == 0:
		a.timeout = adhocTimeout
	}
	base := chain.Identity{Name: "default", Source: chain.SourceDefault}
	if a.profile != "" {
		base = chain.Identity{Name: a.profile, Source: chain.SourceProfile, Profile: a.profile}
	}
	identity := base
	identity.SessionPolicy = chain.SessionPolicyDenyAll
	if a.roleARN != "" {
		identity.Name = a.roleARN[strings.LastIndex(a.roleARN, "/")+1:]
		identity.Hops = []chain.Hop{{RoleARN: a.roleARN, Duration: adhocSession}}
	}
	return chain.Target{
		Name: chain.AccessName(identity.Name, a.cluster), Kind: chain.KindAccess, Identity: identity, Observer: base,
		Cluster:  chain.Cluster{Name: a.cluster, EKSName: a.cluster, Region: a.region, Observer: base.Name},
		Interval: a.timeout, Timeout: a.timeout,
	}, nil
}
