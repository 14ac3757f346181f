// The components by themselves: a token goes through the real webhook and the real authenticator to the sandbox's STS, and back as a Kubernetes user.
//
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"go.uber.org/goleak"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"

	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
	"github.com/eks-slo/eks-slo-exporter/test/e2e/harness"
)

const (
	account = "111122223333"
	region  = "eu-west-1"
	userARN = "arn:aws:iam::" + account + ":user/ci"

	mappedRole  = "arn:aws:iam::" + account + ":role/ci-deploy"
	awsAuthRole = "arn:aws:iam::" + account + ":role/legacy"
	strangeRole = "arn:aws:iam::" + account + ":role/stranger"
)

// userKey is the access key of the account's one user, who may assume every role.
var userKey = aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestComponents(t *testing.T) {
	account := startAccount(t, mappedRole, awsAuthRole, strangeRole)
	cluster := harness.StartCluster(t.Context(), t, harness.Options{
		ClusterID: "prod", AWS: account, AWSAuth: true,
		Roles: []harness.RoleMapping{{RoleARN: mappedRole, Username: "ci:{{SessionName}}", Groups: []string{"deployers"}}},
	})

	t.Run("the administrator's own token never reaches AWS", func(t *testing.T) {
		user, status := cluster.Review(t.Context(), t, cluster.AdminToken())
		if status != http.StatusCreated || user.Username != "admin" {
			t.Errorf("HTTP %d, user %+v", status, user)
		}
		if calls := account.State.Count("PresignedGetCallerIdentity"); calls != 0 {
			t.Errorf("STS was asked %d times", calls)
		}
	})
	t.Run("a mapped role is its user", func(t *testing.T) {
		user, status := cluster.Review(t.Context(), t, mint(t, account, mappedRole, "prod"))
		if status != http.StatusCreated || user.Username != "ci:e2e" || !slices.Equal(user.Groups, []string{"deployers", "system:authenticated"}) {
			t.Errorf("HTTP %d, user %+v", status, user)
		}
		if arn := user.Extra["canonicalArn"]; !slices.Equal(arn, []string{mappedRole}) {
			t.Errorf("canonical ARN %q", arn)
		}
		if calls := account.State.Count("PresignedGetCallerIdentity"); calls != 1 {
			t.Errorf("STS was asked %d times", calls)
		}
	})
	refused := map[string]struct{ role, cluster, log string }{
		"a role that nobody mapped":       {strangeRole, "prod", "identity is not mapped"},
		"a token for another cluster":     {mappedRole, "staging", "SignatureDoesNotMatch"},
		"a role before aws-auth names it": {awsAuthRole, "prod", "identity is not mapped"},
	}
	for name, test := range refused {
		t.Run(name, func(t *testing.T) {
			before := len(cluster.Authenticator.Log())
			if user, status := cluster.Review(t.Context(), t, mint(t, account, test.role, test.cluster)); status != http.StatusUnauthorized {
				t.Errorf("HTTP %d, user %+v", status, user)
			}
			if log := cluster.Authenticator.Log()[before:]; !strings.Contains(log, test.log) {
				t.Errorf("the authenticator does not say %q:\n%s", test.log, log)
			}
		})
	}
	t.Run("a token has its time", func(t *testing.T) { testTokenTime(t, account, cluster) })
	t.Run("a role in aws-auth is its user", func(t *testing.T) {
		cluster.Apply(t.Context(), t, "/api/v1/namespaces/kube-system/configmaps/aws-auth", core.ConfigMap{
			TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: meta.ObjectMeta{Name: "aws-auth"},
			Data:       map[string]string{"mapRoles": "- {rolearn: " + awsAuthRole + ", username: legacy, groups: []}\n"},
		})
		await(t, func() bool {
			user, status := cluster.Review(t.Context(), t, mint(t, account, awsAuthRole, "prod"))
			return status == http.StatusCreated && user.Username == "legacy"
		})
	})
}

// testTokenTime presents tokens that were signed at another time. The authenticator itself looks for those that are over, STS for those that are to come: a client's clock decides which.
func testTokenTime(t *testing.T, account *harness.AWS, cluster *harness.Cluster) {
	for name, test := range map[string]struct {
		signed time.Duration // from now
		status int
		log    string
		asked  int // times that STS is
	}{
		"now":            {0, http.StatusCreated, "access granted", 1},
		"14 minutes ago": {-14 * time.Minute, http.StatusCreated, "access granted", 1},
		"16 minutes ago": {-16 * time.Minute, http.StatusUnauthorized, "X-Amz-Date parameter is expired (15 minute expiration)", 0},
		"in 6 minutes":   {6 * time.Minute, http.StatusUnauthorized, "Signature not yet current: ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			before, asked := len(cluster.Authenticator.Log()), account.State.Count("PresignedGetCallerIdentity")
			user, status := cluster.Review(t.Context(), t, sign(t, assume(t, account, mappedRole), time.Now().Add(test.signed)))
			if status != test.status {
				t.Errorf("HTTP %d, user %+v", status, user)
			}
			if log := cluster.Authenticator.Log()[before:]; !strings.Contains(log, test.log) {
				t.Errorf("the authenticator does not say %q:\n%s", test.log, log)
			}
			if calls := account.State.Count("PresignedGetCallerIdentity") - asked; calls != test.asked {
				t.Errorf("STS was asked %d times", calls)
			}
		})
	}
}

// startAccount starts an account with one user and roles, all of which the user may assume. A role's id is made of its name.
func startAccount(t *testing.T, roles ...string) *harness.AWS {
	t.Helper()
	started := harness.StartAWS(t)
	started.State.Change(func(s *sandbox.State) {
		s.Users[userKey.AccessKeyID] = &sandbox.User{
			Name: "ci", AccountID: account, AccessKeyID: userKey.AccessKeyID, SecretKey: userKey.SecretAccessKey, UserID: "AIDACKCEVSQ6C2EXAMPLE",
		}
		for _, arn := range roles {
			s.Roles[arn] = &sandbox.Role{ARN: arn, RoleID: roleID(arn), MaxSession: time.Hour, Trust: []sandbox.Trust{{Principals: []string{userARN}}}}
		}
	})
	return started
}

func roleID(arn string) string {
	return "AROAEXAMPLE" + strings.ToUpper(arn[strings.LastIndex(arn, "/")+1:])
}

// mint assumes the role at the sandbox and makes its token with the authenticator's own client code.
func mint(t *testing.T, account *harness.AWS, role, cluster string) string {
	t.Helper()
	generator, err := token.NewGenerator(false, false)
	if err != nil {
		t.Fatal(err)
	}
	minted, err := generator.GetWithSTS(cluster, sts.New(sts.Options{Region: region, Credentials: assume(t, account, role)}))
	if err != nil {
		t.Fatalf("minting a token of %s: %v", role, err)
	}
	return minted.Token
}

func assume(t *testing.T, account *harness.AWS, role string) aws.CredentialsProvider {
	t.Helper()
	client := sts.New(sts.Options{
		Region: region, BaseEndpoint: aws.String(account.STS.URL()), HTTPClient: account.Client(),
		Credentials: credentials.NewStaticCredentialsProvider(userKey.AccessKeyID, userKey.SecretAccessKey, ""),
	})
	assumed, err := client.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String(role), RoleSessionName: aws.String("e2e")})
	if err != nil {
		t.Fatalf("assuming %s: %v", role, err)
	}
	session := assumed.Credentials
	return credentials.NewStaticCredentialsProvider(*session.AccessKeyId, *session.SecretAccessKey, *session.SessionToken)
}

// sign makes a token for the cluster prod as a client does whose clock says another time, which the authenticator's own code cannot be told.
func sign(t *testing.T, session aws.CredentialsProvider, at time.Time) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://sts."+region+".amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-K8s-Aws-Id", "prod")
	key, err := session.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const noBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // SHA-256
	url, _, err := v4.NewSigner().PresignHTTP(t.Context(), key, request, noBody, "sts", region, at)
	if err != nil {
		t.Fatalf("signing a token: %v", err)
	}
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(url))
}

// await asks again until the answer is yes; what is awaited here takes less than a second.
func await(t *testing.T, yes func() bool) {
	t.Helper()
	awaitFor(t, 30*time.Second, yes)
}

// awaitFor asks again for so long.
func awaitFor(t *testing.T, limit time.Duration, yes func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !yes() {
		select {
		case <-ctx.Done():
			t.Fatalf("it did not happen within %s", limit)
		case <-ticker.C:
		}
	}
}
