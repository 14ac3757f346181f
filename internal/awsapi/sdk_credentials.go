// The SDK's own credential resolution, for the sources profile and default: with our transport, one attempt, and no memory from run to run.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// withoutDeadline bounds the SDK's calls when the context does not.
const withoutDeadline = time.Minute

// resolve loads the SDK's configuration anew and retrieves once. The SDK detaches its provider's calls from the context (aws.CredentialsCache), so they are given
// the time that is left as a limit of their own: a server that never answers keeps no goroutine past the run.
func (l *Login) resolve(ctx context.Context, more ...func(*config.LoadOptions) error) (aws.Credentials, *observation, error) {
	left := withoutDeadline
	if deadline, ok := ctx.Deadline(); ok {
		left = max(time.Until(deadline), time.Millisecond)
	}
	seen := l.client.observe()
	options := append(sdkOptions(),
		config.WithRegion(l.region),
		config.WithHTTPClient(newHTTPClient().WithTimeout(left)),
		config.WithAPIOptions([]func(*middleware.Stack) error{seen.attach}),
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = boundedClient(newHTTPClient().GetTransport(), left) }),
		config.WithProcessCredentialOptions(func(o *processcreds.Options) { o.Timeout = left }),
		config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
			if o.RoleSessionName == "" {
				o.RoleSessionName = l.sessionName()
			}
		}),
		config.WithWebIdentityRoleCredentialOptions(func(o *stscreds.WebIdentityRoleOptions) {
			if o.RoleSessionName == "" {
				o.RoleSessionName = l.sessionName()
			}
		}))
	loaded, err := config.LoadDefaultConfig(ctx, append(options, more...)...)
	if err != nil {
		return aws.Credentials{}, seen, &configError{err}
	}
	credentials, err := loaded.Credentials.Retrieve(ctx)
	if err == nil && !credentials.HasKeys() {
		err = errors.New("the answer holds no key pair")
	}
	return credentials, seen, err
}

// sourceCause is what a provider says of its failure. A process's own words are left out: the SDK quotes what it printed, which may hold keys.
func sourceCause(err error) string {
	var (
		process *processcreds.ProviderError
		exit    *exec.ExitError
	)
	switch {
	case errors.As(err, &exit):
		return "the credential_process ended with " + exit.Error()
	case errors.As(err, &process):
		return "the credential_process could not be run, or did not print credentials"
	}
	return chain.Redact(err.Error())
}

// configError is an error in what the shared configuration files or the environment say, found before any provider was asked.
type configError struct{ err error }

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }

// unopened blames the layer that the SDK was in: STS for a role of the profile, which Assume then tells, else the source itself.
func (l *Login) unopened(ctx context.Context, seen *observation, err error, facts chain.Facts) (opened, error) {
	var (
		bad       *configError
		operation *smithy.OperationError
		last      = seen.seen()
		source    = fmt.Sprintf("opening the source %s", facts[chain.FactProvider])
		answer    = answerOf(err, last)
	)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return opened{}, ctx.Err()
	case errors.As(err, &bad):
		return opened{}, l.fail(chain.ReasonProfileInvalid, facts, err, "%s: %s", source, chain.Redact(err.Error()))
	case last.service == "STS" && (errors.As(err, &operation) || ctx.Err() != nil):
		call := stsCall{operation: last.operation, doing: fmt.Sprintf("%s: %s", source, last.operation), facts: facts}
		return opened{refused: l.client.stsError(ctx, call, answer), facts: facts}, nil //nolint:nilerr // Assume returns it: the step sts is to blame
	case last.service != serviceIMDS && answer.status == 0 && timedOut(ctx, err, last.cause):
		return opened{}, chain.Unsure(chain.ReasonReadFailed, chain.Redact(fmt.Sprintf("%s: %s", source, last.lateness())), facts, err)
	case answer.untried(), answer.ssoSilent() && !answer.throttled():
		return opened{}, chain.Unsure(chain.ReasonReadFailed, chain.Redact(fmt.Sprintf("%s: %s", source, answer.text())), facts, err)
	case answer.throttled():
		return opened{}, chain.Unsure(chain.ReasonNotMeasurable, chain.Redact(fmt.Sprintf("%s: %s throttles: %s", source, last.service, answer.text())), facts, err)
	case answer.loginEnded():
		return opened{}, l.fail(chain.ReasonProfileInvalid, facts, err, "%s: %s", source, chain.Redact(err.Error()))
	case last.service == serviceIMDS && l.identity.Source == chain.SourceProfile && answer.status == 404:
		return opened{}, l.fail(chain.ReasonInstanceProfileMissing, facts, err, "%s: the instance metadata service knows no role: the instance has no profile", source)
	case last.service == serviceIMDS && answer.status == 0 && timedOut(ctx, err, last.cause):
		return opened{}, l.fail(chain.ReasonIMDSUnreachable, facts, err, "%s: %s", source, last.lateness())
	case last.service == serviceIMDS && l.identity.Source == chain.SourceProfile && answer.status == 0:
		return opened{}, l.fail(chain.ReasonIMDSUnreachable, facts, err, "%s: the instance metadata service did not answer", source)
	}
	return opened{}, l.fail(chain.ReasonNoCredentials, facts, err, "%s: %s", source, sourceCause(err))
}

// timedOut reports whether the run's time, or the call's share of it, ended a call. The SDK's metadata client hides the transport's error, so what was seen of it is asked too.
func timedOut(ctx context.Context, errs ...error) bool {
	return errors.Is(ctx.Err(), context.DeadlineExceeded) || slices.ContainsFunc(errs, func(err error) bool {
		slow, ok := errors.AsType[net.Error](err)
		return errors.Is(err, context.DeadlineExceeded) || ok && slow.Timeout()
	})
}

// providers are what the SDK's providers ask, for people; others are called as the SDK calls their service.
var providers = map[string]string{serviceIMDS: "the instance metadata service", serviceContainer: "the container's credentials service"}

// lateness names the provider that was being asked when the time was over. A provider that makes no call, such as a credential_process, has no name here.
func (s sighting) lateness() string {
	if s.service == "" {
		return "it did not end within the run's time"
	}
	return fmt.Sprintf("%s at %s: no answer in time, while %s", cmp.Or(providers[s.service], s.service), s.host, s.phase)
}
