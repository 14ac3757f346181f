// The scene is a whole small world, ready to be probed: one account, two clusters, a load balancer, seven identities, and the files and environment of the exporter in it.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The names of the scene. Every identity under test, but runner, pod-agent and node, comes from the exporter's own web identity and assumes a role of its name.
const (
	SceneAccount = "111122223333"
	SceneRegion  = "eu-west-1"
	// SceneExternalID is the external id of every role under test. It is a secret: tests look for it where it must not be.
	SceneExternalID = "scene-external-id-7d1f"

	issuerURL    = "https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
	exporterRole = "arn:aws:iam::" + SceneAccount + ":role/eks-slo-exporter"
	// Long-lived keys of the two users.
	runnerKeyID = "AKIASCENERUNNER00001"
	aliceKeyID  = "AKIASCENEALICE000001"
)

// Scene is a running world. It belongs to one test or demo.
type Scene struct {
	Dir    string // holds the token, the external id, CA files and the configuration
	State  *State
	CA     *CA
	STS    *STS
	EKS    *EKS
	IAM    *IAM
	ELB    *ELB
	ALB    *ALB // shop-alb
	OIDC   *OIDC
	DNS    *DNS
	Proxy  *Proxy
	Prod   *APIServer // access entries only
	Stage  *APIServer // aws-auth only
	Agent  *PodIdentityAgent
	IMDS   *IMDS
	Env    map[string]string
	Config string // the configuration file's text; WriteConfig writes it

	closers []io.Closer
}

// NewScene starts the world, healthy: every target of its configuration succeeds. Files are written into dir.
func NewScene(dir string) (*Scene, error) {
	s := &Scene{Dir: dir, State: NewState()}
	if err := errors.Join(s.account(), s.servers(), s.files()); err != nil {
		return nil, errors.Join(fmt.Errorf("building the scene: %w", err), s.Close())
	}
	s.Config = sceneConfig(dir, s.ALB.URL(SceneShopHost))
	s.Env = map[string]string{
		"AWS_ENDPOINT_URL_STS":              s.STS.URL(),
		"AWS_ENDPOINT_URL_EKS":              s.EKS.URL(),
		"AWS_ENDPOINT_URL_IAM":              s.IAM.URL(),
		elbURLVariable:                      s.ELB.URL(),
		"AWS_CA_BUNDLE":                     filepath.Join(dir, "ca.pem"),
		"AWS_ROLE_ARN":                      exporterRole,
		"AWS_WEB_IDENTITY_TOKEN_FILE":       filepath.Join(dir, "token"),
		"AWS_ACCESS_KEY_ID":                 runnerKeyID,
		"AWS_SECRET_ACCESS_KEY":             s.State.Users[runnerKeyID].SecretKey,
		"AWS_SESSION_TOKEN":                 "",
		"AWS_REGION":                        "ap-south-1", // an injected region that nobody asked for: it must not matter
		"AWS_PROFILE":                       "",
		"AWS_EC2_METADATA_DISABLED":         "true", // it must not matter to a source that is asked for by name
		agentURLVariable:                    s.Agent.CredentialsURL(),
		agentTokenVariable:                  filepath.Join(dir, podTokenFile),
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": s.IMDS.URL(),
		"AWS_CONFIG_FILE":                   filepath.Join(dir, "no-aws-config"),
		"AWS_SHARED_CREDENTIALS_FILE":       filepath.Join(dir, "no-aws-credentials"),
		"HTTPS_PROXY":                       "",
		"https_proxy":                       "",
		"NO_PROXY":                          "",
		"no_proxy":                          "",
	}
	return s, nil
}

// Close ends every server, last started first.
func (s *Scene) Close() error {
	var errs []error
	for _, c := range slices.Backward(s.closers) {
		errs = append(errs, c.Close())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// Secrets are the texts that must never show up anywhere: keys, session tokens, the external id and the web identity token.
func (s *Scene) Secrets() []string {
	secrets := append([]string{SceneExternalID}, s.IMDS.Tokens()...)
	for _, name := range []string{"token", podTokenFile} {
		if token, err := os.ReadFile(filepath.Join(s.Dir, name)); err == nil && len(token) > 0 {
			secrets = append(secrets, string(token))
		}
	}
	s.State.Change(func(st *State) {
		for _, u := range st.Users {
			secrets = append(secrets, u.AccessKeyID, u.SecretKey)
		}
		for _, session := range st.Sessions {
			secrets = append(secrets, session.AccessKeyID, session.SecretKey, session.SessionToken)
		}
	})
	return secrets
}

// WriteConfig writes the configuration file and returns its path.
func (s *Scene) WriteConfig() (string, error) {
	path := filepath.Join(s.Dir, "eks-slo.yaml")
	return path, os.WriteFile(path, []byte(s.Config), 0o600)
}

func (s *Scene) account() error {
	oidc, err := NewOIDC(issuerURL)
	if err != nil {
		return err
	}
	s.OIDC = oidc
	host := issuerHost(issuerURL)
	s.State.Change(func(st *State) {
		st.Issuers[issuerURL] = oidc
		st.Providers[issuerURL] = &Provider{Issuer: issuerURL, Audiences: []string{"sts.amazonaws.com"}}
		for name, keyID := range map[string]string{"ci-runner": runnerKeyID, "alice": aliceKeyID} {
			st.Users[keyID] = &User{Name: name, AccountID: SceneAccount, AccessKeyID: keyID, SecretKey: "secret-of-" + name + "-0123456789abcdef", UserID: "AIDASCENE" + name}
		}
		st.Roles[exporterRole] = &Role{ARN: exporterRole, RoleID: "AROASCENEEXPORTER", ReadsEKS: true, ReadsELB: true, MaxSession: time.Hour,
			Trust: []Trust{{Issuer: host, Subject: "system:serviceaccount:monitoring:eks-slo-exporter", Audience: "sts.amazonaws.com"}}}
		for _, name := range []string{"ci-deploy", "ci-release", "viewer"} {
			st.Roles[sceneRole(name)] = &Role{ARN: sceneRole(name), RoleID: "AROASCENE" + name, MaxSession: time.Hour,
				Trust: []Trust{{Principals: []string{exporterRole}, ExternalID: SceneExternalID}}}
		}
		s.node(st)
		addSceneLoadBalancers(st)
		st.Clusters["prod"] = sceneProd()
		addSceneObjects(st.Clusters["prod"])
		st.Clusters["staging"] = sceneStaging()
	})
	return nil
}

func sceneRole(name string) string { return "arn:aws:iam::" + SceneAccount + ":role/" + name }

func sceneProd() *Cluster {
	entry := func(arn, roleID string, groups ...string) *Entry {
		return &Entry{AccessEntry: chain.AccessEntry{PrincipalARN: arn, Groups: groups, Type: "STANDARD", Created: time.Now().Add(-24 * time.Hour)}, RoleID: roleID}
	}
	runner := "arn:aws:iam::" + SceneAccount + ":user/ci-runner"
	return &Cluster{
		Name: "prod", AccountID: SceneAccount, Region: SceneRegion, Status: chain.ClusterStatusActive, AuthMode: chain.AuthModeAPI, OIDCIssuer: issuerURL,
		Entries: map[string]*Entry{
			sceneRole("ci-deploy"):  entry(sceneRole("ci-deploy"), "AROASCENEci-deploy", "deployers"),
			sceneRole("ci-release"): entry(sceneRole("ci-release"), "AROASCENEci-release", "deployers"),
			runner:                  entry(runner, "AIDASCENEci-runner", "deployers"),
			sceneRole(podRole):      entry(sceneRole(podRole), "AROASCENE"+podRole, "deployers"),
			sceneRole(nodeRole):     entry(sceneRole(nodeRole), "AROASCENE"+nodeRole, "deployers"),
		},
		Grants: []Grant{{Subject: "deployers", Verbs: []string{"get", "list", "create", "update"}, Groups: []string{"apps"}, Resources: []string{"deployments"}, Namespace: "shop"}},
	}
}

func sceneStaging() *Cluster {
	return &Cluster{
		Name: "staging", AccountID: SceneAccount, Region: SceneRegion, Status: chain.ClusterStatusActive, AuthMode: chain.AuthModeConfigMap, OIDCIssuer: issuerURL,
		AWSAuth: map[string]string{"mapRoles": "- rolearn: " + sceneRole("viewer") + "\n  username: viewer:{{SessionName}}\n  groups: [viewers]\n" +
			"- rolearn: " + exporterRole + "\n  username: exporter\n  groups: [aws-auth-readers]\n"},
		Grants: []Grant{
			{Subject: "viewers", Verbs: []string{"get", "list"}, Groups: []string{""}, Resources: []string{"pods", "services"}},
			{Subject: "aws-auth-readers", Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{"configmaps"}, Names: []string{"aws-auth"}, Namespace: "kube-system"},
		},
	}
}

// start keeps what was started for Close.
func start[T io.Closer](s *Scene, server T, err error) (T, error) {
	if err == nil {
		s.closers = append(s.closers, server)
	}
	return server, err
}

func (s *Scene) servers() (err error) {
	if s.CA, err = NewCA(); err != nil {
		return err
	}
	server, err := NewSTS(s.State, s.CA)
	if s.STS, err = start(s, server, err); err != nil {
		return err
	}
	eks, err := NewEKS(s.State, s.CA)
	if s.EKS, err = start(s, eks, err); err != nil {
		return err
	}
	iam, err := NewIAM(s.State, s.CA)
	if s.IAM, err = start(s, iam, err); err != nil {
		return err
	}
	dns, err := NewDNS()
	if s.DNS, err = start(s, dns, err); err != nil {
		return err
	}
	proxy, err := NewProxy(ProxyRoute{Host: "*.eks.amazonaws.com:*"})
	if s.Proxy, err = start(s, proxy, err); err != nil {
		return err
	}
	sts := STSEndpoint{Address: s.STS.Addr(), CAPEM: s.CA.PEM()}
	prod, err := NewAPIServer(s.State, nil, "prod", sts)
	if s.Prod, err = start(s, prod, err); err != nil {
		return err
	}
	staging, err := NewAPIServer(s.State, nil, "staging", sts)
	if s.Stage, err = start(s, staging, err); err != nil {
		return err
	}
	return errors.Join(s.nodeServers(), s.loadBalancers())
}

func (s *Scene) files() error {
	for name, content := range map[string][]byte{
		"ca.pem":      s.CA.PEM(),
		"prod-ca.pem": s.State.Clusters["prod"].CAPEM,
		"external-id": []byte(SceneExternalID + "\n"),
	} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return errors.Join(s.WriteToken(TokenClaims{}), s.WritePodToken(TokenClaims{}))
}

// WriteToken projects the exporter's service-account token, as the kubelet does; the claims' zero fields are the good ones.
func (s *Scene) WriteToken(claims TokenClaims) error {
	claims.Namespace, claims.ServiceAccount = "monitoring", "eks-slo-exporter"
	return os.WriteFile(filepath.Join(s.Dir, "token"), []byte(s.OIDC.Mint(claims)), 0o600)
}

// Setenv hands every variable to set, in a fixed order.
func (s *Scene) Setenv(set func(key, value string)) {
	for _, key := range slices.Sorted(maps.Keys(s.Env)) {
		set(key, s.Env[key])
	}
}
