// Tests of the search for the cause of a 401.
//
// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strings"
	"testing"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

const refused = "✔✔✔✔✖·"

// refusals are all a 401 at the review; what differs is the evidence that is found afterwards.
var refusals = map[string]struct {
	change func(*fake, *chain.Target)
	want   string
	detail string // a part of it
}{
	"C37 no entry in mode API": {func(*fake, *chain.Target) {}, "failure access_entry/not_mapped " + refused, "the cluster has no access entry for " + roleARN},
	"C37 no line in mode CONFIG_MAP": {func(f *fake, _ *chain.Target) {
		f.cluster, f.auth = modeOf(chain.AuthModeConfigMap), &chain.AWSAuth{}
	}, "failure access_entry/not_mapped " + refused, "no line in aws-auth"},
	"C37 neither in the combined mode": {func(f *fake, _ *chain.Target) { f.cluster = modeOf(chain.AuthModeAPIAndConfigMap) },
		"failure access_entry/not_mapped " + refused, "neither an access entry nor a line in aws-auth"},
	"the session ended meanwhile": {func(f *fake, _ *chain.Target) {
		f.replayErr = fail(chain.StepSTS, chain.ReasonCredentialsExpired)
	}, "failure token/token_signing_credentials_expired ✔✔✖✔··", "STS refuses the presigned URL"},
	"STS finds the token too old": {func(f *fake, _ *chain.Target) {
		f.replayErr = fail(chain.StepToken, chain.ReasonTokenExpired)
	}, "failure token/token_expired ✔✔✖✔··", "STS refuses the presigned URL"},
	"STS does not know the key": {func(f *fake, _ *chain.Target) { f.replayErr = fail(chain.StepSTS, chain.ReasonCredentialsInvalid) },
		"failure sts/credentials_invalid ✔✖✔✔··", "STS refuses the presigned URL"},
	"STS finds the clock ahead": {func(f *fake, _ *chain.Target) { f.replayErr = fail(chain.StepSTS, chain.ReasonClockAhead) },
		"failure access_entry/clock_skew_presigned " + refused, "STS refuses the presigned URL"},
	"EKS knows no such cluster, yet an apiserver answers": {func(f *fake, tg *chain.Target) {
		tg.Cluster.Endpoint, tg.Cluster.CAFile = endpoint, "unauthorized_test.go" // all configured: EKS is asked after the 401 alone; the fake reads no PEM
		f.cluster = func() (chain.ClusterInfo, error) {
			return chain.ClusterInfo{}, fail(chain.StepToken, chain.ReasonClusterNotFound)
		}
	}, "failure token/cluster_id_mismatch ✔✔✖✔··", "EKS knows no cluster \"prod\" in eu-west-1"},
	"the configured server is another cluster's": {func(f *fake, tg *chain.Target) {
		tg.Cluster.Endpoint, f.servesOwn = "https://other.example.com", false
	}, "failure token/cluster_id_mismatch ✔✔✖✔··", "certificate of another cluster than prod"},
	"a private name for the same server is no mismatch": {func(_ *fake, tg *chain.Target) { tg.Cluster.Endpoint = "https://lb.example.com" },
		"failure access_entry/not_mapped " + refused, ""},
	"EKS spells the name otherwise": {func(f *fake, _ *chain.Target) {
		f.cluster = func() (chain.ClusterInfo, error) {
			info := healthyCluster()
			info.Name = "Prod"
			return info, nil
		}
	}, "failure token/cluster_id_mismatch ✔✔✖✔··", `the token is signed for "prod", and EKS calls the cluster "Prod"`},
	"C37 a line in aws-auth does not count in mode API": {func(f *fake, _ *chain.Target) {
		f.auth = &chain.AWSAuth{Roles: []chain.Mapping{{ARN: roleARN, Groups: []string{"deployers"}}}}
	}, "failure access_entry/not_mapped " + refused, "no access entry (only a line in aws-auth, which this mode ignores) for " + roleARN},
	"C37 a token that STS would not look at is not called good": {func(f *fake, _ *chain.Target) {
		f.replayErr = chain.Unsure(chain.ReasonSTSThrottled, "", nil, nil)
	}, "failure access_entry/not_mapped " + refused, "the cluster has no access entry for " + roleARN + "; authentication mode is API; could not be read: replaying the presigned URL: sts_throttled"},
	"C40 nor is it with a group that no entry holds": {func(f *fake, tg *chain.Target) {
		f.replayErr, tg.Expect.Groups = chain.Unsure(chain.ReasonSTSThrottled, "", nil, nil), []string{"system:masters"}
	}, "failure access_entry/access_entry_invalid_group " + refused, "takes its place; could not be read: replaying the presigned URL: sts_throttled"},
	"GetCallerIdentity was not answered: STS tells the caller by the presigned URL": {func(f *fake, _ *chain.Target) {
		f.callerErr = chain.Unsure(chain.ReasonSTSThrottled, "", nil, nil)
	}, "failure access_entry/not_mapped ✔?✔✔✖·", "STS accepts it as " + sessionARN + "), but the cluster has no access entry for " + roleARN},
	"nobody tells who the caller is": {func(f *fake, _ *chain.Target) {
		f.callerErr = chain.Unsure(chain.ReasonSTSThrottled, "", nil, nil)
		throttle(f)
	}, "failure access_entry/unauthorized_unexplained ✔?✔✔✖·", noCaller},
	"an entry hides a line that would be blamed": {func(f *fake, _ *chain.Target) {
		f.mappedBy(chain.AuthModeAPIAndConfigMap, &chain.AccessEntry{PrincipalARN: roleARN}, chain.Mapping{ARN: withPath})
	}, "failure access_entry/unauthorized_unexplained " + refused, "the access entry of " + roleARN + " exists"},
	"an entry that cannot be read may hide a line that would be blamed": {func(f *fake, _ *chain.Target) {
		f.mappedBy(chain.AuthModeAPIAndConfigMap, nil, chain.Mapping{ARN: withPath})
		f.entryErr = chain.Unsure(chain.ReasonObserverDenied, "eks:DescribeAccessEntry", nil, nil)
	}, "failure access_entry/unauthorized_unexplained " + refused, "could not be read: the access entry: observer_denied"},
	"no entry hides the line": {func(f *fake, _ *chain.Target) {
		f.mappedBy(chain.AuthModeAPIAndConfigMap, nil, chain.Mapping{ARN: withPath})
	}, "failure access_entry/aws_auth_role_path " + refused, withPath},
	"C40 a system: group is declared": {func(_ *fake, tg *chain.Target) { tg.Expect.Groups = []string{"system:authenticated", "system:masters"} },
		"failure access_entry/access_entry_invalid_group " + refused, "none can be made with the group system:masters that expect.groups declares"},
	"C40 aws-auth still gives a system: group": {func(f *fake, _ *chain.Target) {
		f.auth = &chain.AWSAuth{Roles: []chain.Mapping{{ARN: roleARN, Groups: []string{"system:bootstrappers", "system:nodes"}}}}
	}, "failure access_entry/access_entry_invalid_group " + refused, "none can be made with the group system:bootstrappers that aws-auth still gives"},
	"C40 in the combined mode a line could have given it": {func(f *fake, tg *chain.Target) {
		f.cluster, tg.Expect.Groups = modeOf(chain.AuthModeAPIAndConfigMap), []string{"system:masters"}
	}, "failure access_entry/not_mapped " + refused, "(an entry could not hold the declared group system:masters: it takes an access policy)"},
	"C41 an entry of a node": {func(f *fake, _ *chain.Target) {
		f.entry = &chain.AccessEntry{PrincipalARN: roleARN, Username: "system:node:{{EC2PrivateDNSName}}"}
	}, "failure access_entry/username_template_unresolved " + refused, "the access entry of " + roleARN + " has the username"},
	"C41 a line of a node, in its groups": {func(f *fake, _ *chain.Target) {
		f.cluster, f.auth = modeOf(chain.AuthModeConfigMap), &chain.AWSAuth{Roles: []chain.Mapping{{ARN: roleARN, Username: "ci", Groups: []string{"{{EC2PrivateDNSName}}"}}}}
	}, "failure access_entry/username_template_unresolved " + refused, "the aws-auth line of " + roleARN + " has the group"},
	"a key in other case": {func(f *fake, _ *chain.Target) {
		f.cluster, f.auth = modeOf(chain.AuthModeConfigMap), &chain.AWSAuth{Roles: []chain.Mapping{{ARN: roleARN, OddKeys: []string{"GROUPS", "roleARN"}}}}
	}, "failure access_entry/aws_auth_unknown_key " + refused, "spells its key roleARN"},
	"a misspelt key": {func(f *fake, _ *chain.Target) {
		f.cluster, f.auth = modeOf(chain.AuthModeConfigMap), &chain.AWSAuth{Strays: []chain.Stray{{Where: "mapRoles[2]", Keys: []string{"rolearm", "username"}, ARNs: []string{roleARN}}}}
	}, "failure access_entry/aws_auth_unknown_key " + refused, "in mapRoles[2], but under a key that the authenticator does not know: the line has rolearm, username, and no rolearn"},
	"a misspelt section": {func(f *fake, _ *chain.Target) {
		f.cluster, f.auth = modeOf(chain.AuthModeConfigMap), &chain.AWSAuth{Strays: []chain.Stray{{Where: "maproles", ARNs: []string{roleARN}}}}
	}, "failure access_entry/aws_auth_unknown_key " + refused, "the section is called maproles, not mapRoles"},
	"a right line": {func(f *fake, _ *chain.Target) {
		f.cluster, f.auth = modeOf(chain.AuthModeConfigMap), &chain.AWSAuth{Roles: []chain.Mapping{{ARN: roleARN, Username: "ci"}}}
	}, "failure access_entry/unauthorized_unexplained " + refused, "the mapping in aws-auth exists; the authenticator works: it let the observer reader in"},
	"the account's line": {func(f *fake, _ *chain.Target) {
		f.cluster, f.auth = modeOf(chain.AuthModeConfigMap), &chain.AWSAuth{Accounts: []string{"111122223333"}}
	}, "failure access_entry/unauthorized_unexplained " + refused, "the account's line in aws-auth exists"},
	"an entry exists and nobody else got in: no guess": {func(f *fake, _ *chain.Target) { f.entry = &chain.AccessEntry{PrincipalARN: roleARN} },
		"failure access_entry/unauthorized_unexplained " + refused, "the access entry of " + roleARN + " exists"},
	"an entry with a path that the configuration does not know": {func(f *fake, _ *chain.Target) {
		f.entries = []string{"arn:aws:iam::111122223333:role/team/ci-deploy"}
	}, "failure access_entry/unauthorized_unexplained " + refused, "the access entry of arn:aws:iam::111122223333:role/team/ci-deploy exists"},
	"the entries cannot be read": {func(f *fake, _ *chain.Target) {
		f.entryErr = chain.Unsure(chain.ReasonObserverDenied, "eks:DescribeAccessEntry", nil, nil)
	},
		"failure access_entry/unauthorized_unexplained " + refused, "could not be read: the access entry: observer_denied"},
	"aws-auth cannot be read": {func(f *fake, _ *chain.Target) {
		f.cluster, f.authErr = modeOf(chain.AuthModeConfigMap), chain.Unsure(chain.ReasonObserverDenied, "forbidden", nil, nil)
	}, "failure access_entry/unauthorized_unexplained " + refused, "could not be read: aws-auth"},
	"the observer cannot sign in for aws-auth": {func(f *fake, _ *chain.Target) {
		f.cluster, f.observeErr = modeOf(chain.AuthModeConfigMap), chain.Unsure(chain.ReasonObserverUnavailable, "no token", nil, nil)
	}, "failure access_entry/unauthorized_unexplained " + refused, "could not be read: aws-auth"},
	"nobody can look": {func(_ *fake, tg *chain.Target) {
		tg.Cluster.Observer, tg.Cluster.Endpoint = "", endpoint
	}, "failure access_entry/unauthorized_unexplained " + refused, "the cluster has no observer"},
}

func TestExplainUnauthorized(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			f, target := newFake(), standardTarget(t)
			f.review = reviewFails(&Unauthorized{Date: time.Now()})
			c.change(f, &target)
			run := probe(t, f, target)
			if got := verdict(run); got != c.want {
				t.Errorf("got  %s\nwant %s (%s)", got, c.want, run.Verdict.Detail)
			}
			if !strings.Contains(run.Verdict.Detail, c.detail) {
				t.Errorf("detail is %q, want %q in it", run.Verdict.Detail, c.detail)
			}
			if f.replayErr != nil && strings.Contains(run.Verdict.Detail, "the token is good") {
				t.Errorf("STS did not say what the detail claims: %s", run.Verdict.Detail)
			}
		})
	}
}

func TestClockOfTheAPIServer(t *testing.T) {
	for name, c := range map[string]struct {
		skew time.Duration
		want string
	}{
		"six minutes ahead":    {6 * time.Minute, "failure access_entry/clock_skew_presigned ✔✔✔✔✖·"},
		"four minutes ahead":   {4 * time.Minute, "failure access_entry/not_mapped ✔✔✔✔✖·"},
		"fourteen behind":      {-14 * time.Minute, "failure access_entry/not_mapped ✔✔✔✔✖·"},
		"a quarter hour after": {-16 * time.Minute, "failure access_entry/clock_skew_presigned ✔✔✔✔✖·"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.review = reviewFails(&Unauthorized{Date: time.Now().Add(-c.skew)})
			if got := verdict(probe(t, f, standardTarget(t))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRuledOutIsTold(t *testing.T) {
	f := newFake()
	f.review = reviewFails(&Unauthorized{Date: time.Now()})
	run := probe(t, f, standardTarget(t))
	told := run.Facts()[chain.FactRuledOut]
	for _, want := range []string{"the token is valid until", "the clock agrees", "STS accepts the presigned URL as " + sessionARN, `the signed name "prod" is the cluster's own`} {
		if !strings.Contains(told, want) {
			t.Errorf("ruled out %q, want %q in it", told, want)
		}
	}
}
