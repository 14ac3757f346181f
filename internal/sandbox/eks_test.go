// The EKS API as the SDK reads it: clusters, entries, policies, pages, and every refusal.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const viewPolicy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"

// newEKSAccount has two clusters of the account's, one in another region, one in another account.
func newEKSAccount(t *testing.T) *awsAccount {
	t.Helper()
	a := newAWSAccount(t)
	prod, far, foreign := testCluster("prod"), testCluster("far"), testCluster("foreign")
	far.Region, foreign.AccountID = "us-east-1", "444455556666"
	prod.Entries[nextARN] = &Entry{
		AccessEntry: chain.AccessEntry{PrincipalARN: nextARN, Groups: []string{"deployers"}, Username: "next:{{SessionName}}", Type: "STANDARD", Created: time.UnixMilli(1767225600500)},
		RoleID:      "AROANEXT",
		Policies:    []AssociatedPolicy{{ARN: viewPolicy, Namespaces: []string{"dev-*", "shop"}}, {ARN: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"}},
	}
	prod.Entries[userARN] = &Entry{AccessEntry: chain.AccessEntry{PrincipalARN: userARN}}
	prod.Entries[deployARN] = &Entry{AccessEntry: chain.AccessEntry{PrincipalARN: deployARN}}
	a.state.Change(func(s *State) {
		for _, cluster := range []*Cluster{prod, testCluster("dev"), far, foreign} {
			s.Clusters[cluster.Name] = cluster
		}
	})
	return a
}

func TestDescribeCluster(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*Cluster)
		endpoint string
		mode     types.AuthenticationMode
	}{
		"as it is": {func(*Cluster) {}, "https://prod.example.com", types.AuthenticationModeApi},
		"stale endpoint": {
			func(c *Cluster) { c.Fault.Endpoint = "https://gone.example.com" },
			"https://gone.example.com",
			types.AuthenticationModeApi,
		},
		"mode that was not said": {
			func(c *Cluster) { c.AuthMode = "" },
			"https://prod.example.com",
			types.AuthenticationModeConfigMap,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newEKSAccount(t)
			a.state.Change(func(s *State) { c.change(s.Clusters["prod"]) })
			output, err := a.eksClient(testUser, testRegion).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("prod")})
			must(t, err)
			got := output.Cluster
			wantSame(t, []any{*got.Name, *got.Arn, got.Status, *got.Endpoint, *got.CertificateAuthority.Data, *got.Identity.Oidc.Issuer, got.AccessConfig.AuthenticationMode, got.ResourcesVpcConfig.EndpointPublicAccess},
				[]any{"prod", "arn:aws:eks:eu-west-1:111122223333:cluster/prod", types.ClusterStatusActive, c.endpoint, "dGhlIGF1dGhvcml0eQ==", testIssuer, c.mode, true})
			wantSame(t, a.state.Calls, []Call{{"eks", "DescribeCluster", ""}})
		})
	}
}

func TestListClusters(t *testing.T) {
	a := newEKSAccount(t)
	for name, c := range map[string]struct {
		region string
		want   []string
	}{
		"home":      {testRegion, []string{"dev", "prod"}},
		"elsewhere": {"us-east-1", []string{"far"}},
		"empty":     {"us-west-2", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := a.eksClient(testUser, c.region).ListClusters(t.Context(), &eks.ListClustersInput{})
			must(t, err)
			wantSame(t, got.Clusters, c.want)
		})
	}
}

func TestDescribeAccessEntry(t *testing.T) {
	a := newEKSAccount(t)
	for name, c := range map[string]struct {
		principal, username, kind, arn string
		groups                         []string
		created                        *time.Time
	}{
		"written out, with a path": {
			nextARN, "next:{{SessionName}}", "STANDARD", "arn:aws:eks:eu-west-1:111122223333:access-entry/prod/role/111122223333/next/AROANEXT",
			[]string{"deployers"}, aws.Time(time.UnixMilli(1767225600500).UTC()),
		},
		"a role's defaults": {
			deployARN, "arn:aws:sts::111122223333:assumed-role/ci-deploy/{{SessionName}}", "STANDARD",
			"arn:aws:eks:eu-west-1:111122223333:access-entry/prod/role/111122223333/ci-deploy/", []string{}, nil,
		},
		"a user's defaults": {
			userARN,
			userARN,
			"STANDARD",
			"arn:aws:eks:eu-west-1:111122223333:access-entry/prod/user/111122223333/ci/",
			[]string{},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := a.eksClient(testUser, testRegion).DescribeAccessEntry(t.Context(), &eks.DescribeAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: &c.principal})
			must(t, err)
			got := output.AccessEntry
			wantSame(t, []any{*got.ClusterName, *got.PrincipalArn, *got.Username, *got.Type, *got.AccessEntryArn, got.KubernetesGroups, got.CreatedAt},
				[]any{"prod", c.principal, c.username, c.kind, c.arn, c.groups, c.created})
		})
	}
}

func TestListAssociatedAccessPolicies(t *testing.T) {
	a := newEKSAccount(t)
	got, err := a.eksClient(testUser, testRegion).ListAssociatedAccessPolicies(t.Context(), &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String(nextARN)})
	must(t, err)
	var list []string
	for _, p := range got.AssociatedAccessPolicies {
		list = append(list, fmt.Sprint(*p.PolicyArn, " ", p.AccessScope.Type, " ", p.AccessScope.Namespaces))
	}
	wantSame(t, list, []string{
		"arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy cluster []",
		viewPolicy + " namespace [dev-* shop]",
	})
}

func TestListAccessEntriesPages(t *testing.T) {
	a := newEKSAccount(t)
	var all []string
	a.state.Change(func(s *State) {
		clear(s.Clusters["prod"].Entries)
		for i := range 205 {
			arn := fmt.Sprintf("arn:aws:iam::111122223333:role/r%03d", i)
			all = append(all, arn)
			s.Clusters["prod"].Entries[arn] = &Entry{AccessEntry: chain.AccessEntry{PrincipalARN: arn}}
		}
		s.Clusters["prod"].Entries[all[7]].Policies = []AssociatedPolicy{{ARN: viewPolicy}}
	})
	for name, c := range map[string]struct {
		size   *int32
		policy *string
		want   []string
		pages  int
	}{
		"default pages": {nil, nil, all, 3},
		"small pages":   {aws.Int32(41), nil, all, 5},
		"of a policy":   {nil, aws.String(viewPolicy), all[7:8], 1},
	} {
		t.Run(name, func(t *testing.T) {
			pager := eks.NewListAccessEntriesPaginator(a.eksClient(testUser, testRegion), &eks.ListAccessEntriesInput{ClusterName: aws.String("prod"), MaxResults: c.size, AssociatedPolicyArn: c.policy})
			var got []string
			pages := 0
			for ; pager.HasMorePages(); pages++ {
				page, err := pager.NextPage(t.Context())
				must(t, err)
				got = append(got, page.AccessEntries...)
			}
			wantSame(t, got, c.want)
			wantSame(t, pages, c.pages)
		})
	}
}

func TestEKSRefusals(t *testing.T) {
	describe := func(cluster string) func(*testing.T, *eks.Client) error {
		return func(t *testing.T, client *eks.Client) error {
			_, err := client.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: &cluster})
			return err
		}
	}
	entry := func(cluster, principal string) func(*testing.T, *eks.Client) error {
		return func(t *testing.T, client *eks.Client) error {
			_, err := client.DescribeAccessEntry(t.Context(), &eks.DescribeAccessEntryInput{ClusterName: &cluster, PrincipalArn: &principal})
			return err
		}
	}
	list := func(size int32, token string) func(*testing.T, *eks.Client) error {
		return func(t *testing.T, client *eks.Client) error {
			_, err := client.ListAccessEntries(t.Context(), &eks.ListAccessEntriesInput{ClusterName: aws.String("prod"), MaxResults: &size, NextToken: &token})
			return err
		}
	}
	noCluster := func(name string) awsAnswer {
		return awsAnswer{404, "ResourceNotFoundException", "No cluster found for name: " + name + "."}
	}
	const session, prodARN = "arn:aws:sts::111122223333:assumed-role/ci-deploy/probe", "arn:aws:eks:eu-west-1:111122223333:cluster/prod"
	for name, c := range map[string]struct {
		call  func(*testing.T, *eks.Client) error
		fault func(*State)
		creds func(*awsAccount, *testing.T) aws.Credentials // the user's when nil
		want  awsAnswer
	}{
		"no cluster":               {call: describe("gone"), want: noCluster("gone")},
		"another region's cluster": {call: describe("far"), want: noCluster("far")},
		"another account's":        {call: describe("foreign"), want: noCluster("foreign")},
		"entry of no cluster":      {call: entry("gone", userARN), want: noCluster("gone")},
		"no entry": {
			call: entry("prod", irsaARN),
			want: awsAnswer{404, "ResourceNotFoundException", "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'."},
		},
		"entry without its path": {
			call: entry("prod", "arn:aws:iam::111122223333:role/next"),
			want: awsAnswer{404, "ResourceNotFoundException", "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'."},
		},
		"entries in CONFIG_MAP": {
			call: entry("prod", userARN), fault: func(s *State) { s.Clusters["prod"].AuthMode = chain.AuthModeConfigMap },
			want: awsAnswer{400, "InvalidRequestException", "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."},
		},
		"page of none": {
			call: list(0, ""),
			want: awsAnswer{400, "InvalidParameterException", "maxResults must be between 1 and 100, not 0"},
		},
		"page of 101": {
			call: list(101, ""),
			want: awsAnswer{400, "InvalidParameterException", "maxResults must be between 1 and 100, not 101"},
		},
		"damaged token": {call: list(1, "!"), want: awsAnswer{400, "InvalidParameterException", "Invalid nextToken"}},
		"throttled (C56)": {
			call:  describe("prod"),
			fault: func(s *State) { s.Throttle["DescribeCluster"] = true },
			want:  awsAnswer{429, "TooManyRequestsException", "Rate exceeded"},
		},
		"failing": {
			call:  describe("prod"),
			fault: func(s *State) { s.Failing["DescribeCluster"] = true },
			want:  awsAnswer{500, "ServerException", "Internal server error"},
		},
		"off": {call: describe("prod"), fault: func(s *State) { s.Off["eks"] = true }, want: awsAnswer{}},
		"not an observer": {
			call: describe("prod"), fault: func(s *State) { s.Users[testUser.AccessKeyID].ReadsEKS = false },
			want: awsAnswer{403, "AccessDeniedException", "User: " + userARN + " is not authorized to perform: eks:DescribeCluster on resource: " + prodARN +
				" because no identity-based policy allows the eks:DescribeCluster action"},
		},
		"a session that may do naught": {
			call:  describe("prod"),
			creds: func(a *awsAccount, t *testing.T) aws.Credentials { return a.assume(t, deployARN, denyAll) },
			want:  awsAnswer{403, "AccessDeniedException", "User: " + session + " is not authorized to perform: eks:DescribeCluster on resource: " + prodARN + " with an explicit deny in a session policy"},
		},
		"a role that is no observer": {
			call: describe("prod"), fault: func(s *State) { s.Roles[deployARN].ReadsEKS = false },
			creds: func(a *awsAccount, t *testing.T) aws.Credentials { return a.assume(t, deployARN, "") },
			want: awsAnswer{403, "AccessDeniedException", "User: " + session + " is not authorized to perform: eks:DescribeCluster on resource: " + prodARN +
				" because no identity-based policy allows the eks:DescribeCluster action"},
		},
		"unknown key": {
			call: describe("prod"), creds: func(*awsAccount, *testing.T) aws.Credentials {
				return aws.Credentials{AccessKeyID: "AKIANOBODY", SecretAccessKey: "x"}
			},
			want: awsAnswer{403, "UnrecognizedClientException", errInvalidToken.Message},
		},
		"no credentials": {
			call: describe("prod"), creds: func(*awsAccount, *testing.T) aws.Credentials { return aws.Credentials{} },
			want: awsAnswer{403, "MissingAuthenticationTokenException", errMissingToken.Message},
		},
		"ended session": {
			call: describe("prod"), creds: func(a *awsAccount, t *testing.T) aws.Credentials {
				creds := a.assume(t, deployARN, "")
				a.state.Change(func(s *State) { s.Sessions[creds.AccessKeyID].Expires = s.now() })
				return creds
			},
			want: awsAnswer{403, "ExpiredTokenException", errExpiredToken.Message},
		},
		"wrong secret": {
			call: describe("prod"), creds: func(*awsAccount, *testing.T) aws.Credentials {
				return aws.Credentials{AccessKeyID: testUser.AccessKeyID, SecretAccessKey: "x"}
			},
			want: awsAnswer{403, "InvalidSignatureException", "The request signature we calculated does not match the signature you provided. " +
				"Check your AWS Secret Access Key and signing method. Consult the service documentation for details."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newEKSAccount(t)
			if c.fault != nil {
				a.state.Change(c.fault)
			}
			creds := testUser
			if c.creds != nil {
				creds = c.creds(a, t)
			}
			wantAnswer(t, c.call(t, a.eksClient(creds, testRegion)), c.want)
		})
	}
}

// A ResourceNotFoundException says in its field, not only in its text, that it is the cluster which is missing.
func TestMissingClusterIsModelled(t *testing.T) {
	a := newEKSAccount(t)
	client := a.eksClient(testUser, testRegion)
	_, err := client.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("gone")})
	missing := (*types.ResourceNotFoundException)(nil)
	if !errors.As(err, &missing) || aws.ToString(missing.ClusterName) != "gone" {
		t.Errorf("%#v does not name the cluster", err)
	}
	_, err = client.DescribeAccessEntry(t.Context(), &eks.DescribeAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String(irsaARN)})
	if !errors.As(err, &missing) || missing.ClusterName != nil {
		t.Errorf("%#v names a cluster", err)
	}
}

func TestSessionsReadWhatTheirRoleReads(t *testing.T) {
	a := newEKSAccount(t)
	for name, policy := range map[string]string{"no session policy": "", "one that allows": `{"Statement":{"Effect":"Allow","Action":"eks:Describe*","Resource":"*"}}`} {
		t.Run(name, func(t *testing.T) {
			_, err := a.eksClient(a.assume(t, deployARN, policy), testRegion).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("prod")})
			must(t, err)
		})
	}
}
