// Source profile: one profile of the shared configuration files, with whatever it says for itself: keys, roles, SSO, web identity, a process.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// openProfile refuses a profile that says nothing of credentials: for such a one the SDK would go on to the container's and the instance's credentials
// (aws-sdk-go-v2 config, resolveCredsFromProfile), and sign as somebody else.
func openProfile(ctx context.Context, l *Login) (opened, error) {
	name := l.identity.Profile
	facts := chain.Facts{chain.FactProvider: "profile " + name, chain.FactProfile: name}
	if name == "" {
		return opened{}, l.fail(chain.ReasonProfileInvalid, facts, nil, "opening the source profile: the identity %s names no profile", l.identity.Name)
	}
	shared, files, err := readProfile(ctx, name)
	var missing config.SharedConfigProfileNotExistError
	switch {
	case errors.As(err, &missing) && missing.Profile == name:
		return opened{}, l.fail(chain.ReasonProfileInvalid, facts, err, "reading the profile %q: it is in none of %s", name, files)
	case err != nil:
		return opened{}, l.fail(chain.ReasonProfileInvalid, facts, err, "reading the profile %q from %s: %s", name, files, chain.Redact(err.Error()))
	}
	if !hasOwnCredentials(shared) {
		return opened{}, l.fail(chain.ReasonNoCredentials, facts, nil, "reading the profile %q from %s: it holds no complete key pair and names no other source of credentials", name, files)
	}
	credentials, seen, err := l.resolve(ctx, config.WithSharedConfigProfile(name))
	if err != nil {
		return l.unopened(ctx, seen, err, facts)
	}
	facts[chain.FactProvider] = "profile " + name + ": " + credentials.Source
	return opened{credentials: credentials, facts: facts}, nil
}

// readProfile reads a profile from the files that the SDK would read.
func readProfile(ctx context.Context, name string) (shared config.SharedConfig, files string, err error) {
	env, err := config.NewEnvConfig()
	if err != nil {
		return config.SharedConfig{}, "the environment", err
	}
	configFiles, credentialsFiles := []string{config.DefaultSharedConfigFilename()}, []string{config.DefaultSharedCredentialsFilename()}
	if env.SharedConfigFile != "" {
		configFiles = []string{env.SharedConfigFile}
	}
	if env.SharedCredentialsFile != "" {
		credentialsFiles = []string{env.SharedCredentialsFile}
	}
	shared, err = config.LoadSharedConfigProfile(ctx, name, func(o *config.LoadSharedConfigOptions) {
		o.ConfigFiles, o.CredentialsFiles = configFiles, credentialsFiles
	})
	return shared, strings.Join(append(configFiles, credentialsFiles...), ", "), err
}

// hasOwnCredentials reports whether a profile, or the end of its source_profile chain, names where credentials come from: the cases of resolveCredsFromProfile before its fall-through.
func hasOwnCredentials(shared config.SharedConfig) bool {
	for shared.Source != nil {
		shared = *shared.Source
	}
	return shared.Credentials.HasKeys() || shared.CredentialSource != "" || shared.WebIdentityTokenFile != "" || shared.SSOSessionName != "" ||
		shared.SSOStartURL != "" || shared.LoginSession != "" || shared.CredentialProcess != ""
}
