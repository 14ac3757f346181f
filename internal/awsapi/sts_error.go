// STS errors: the one place that turns what STS answered, or that it did not, into a reason.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// The operations that the table tells apart.
const (
	opAssumeRole  = "AssumeRole"
	opWebIdentity = "AssumeRoleWithWebIdentity"
	opCaller      = "GetCallerIdentity"
	opReplay      = "PresignedGetCallerIdentity"
)

// STS refuses a signature from a clock more than 5 minutes ahead of its own or 15 minutes behind: its messages say so ("+ 5 min.", "- 15 min.").
const (
	maxAhead  = 5 * time.Minute
	maxBehind = 15 * time.Minute
)

// stsCall is what was asked, for the detail and the evidence.
type stsCall struct {
	operation string
	doing     string // "assuming ROLE (hop 1 of 2)"
	facts     chain.Facts
	secrets   []chain.Secret // that were sent, and that STS may repeat
}

// finding is a row of the table.
type finding struct {
	step   chain.Step
	reason chain.Reason
	why    string // what to know beside STS's own words; "" when they say it all
}

// stsError turns the end of a call into a *chain.Error. Our own cancellation comes back as it is: it is nobody's failure.
func (c *Client) stsError(ctx context.Context, call stsCall, a answer) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	a.message = call.withoutSecrets(a.message)
	facts := call.facts.Merge(a.facts())
	at := ""
	if a.host != "" {
		at = " at " + a.host
	}
	detail := chain.Redact(fmt.Sprintf("%s%s: %s", call.doing, at, a.text()))
	switch {
	case !a.sent() && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return chain.Fail(chain.StepSTS, chain.ReasonSTSUnreachable, call.doing+": the time was over before the call, since the calls before it were slow", facts, a.err)
	case !a.sent():
		return chain.Unsure(chain.ReasonReadFailed, chain.Redact(fmt.Sprintf("%s: the request could not be made: %v", call.doing, a.err)), facts, a.err)
	case a.untried():
		return chain.Unsure(chain.ReasonReadFailed, detail, facts, a.err)
	case a.throttled() && !a.stranger():
		return chain.Unsure(chain.ReasonSTSThrottled, detail, facts, a.err)
	}
	found := judgeSTS(call.operation, a)
	if found.reason == chain.ReasonIdentityTokenExpired {
		found.why = a.clock()
	}
	if found.why != "" {
		detail += " (" + found.why + ")"
	}
	return chain.Fail(found.step, found.reason, detail, facts, a.err)
}

// echoes are the parameters whose values nobody may see, as STS repeats what it cannot accept: "Value 'x' at 'externalId' failed to satisfy constraint".
var echoes = regexp.MustCompile(`(?s)Value '.*' at '(externalId|tokenCode|webIdentityToken)'`)

// withoutSecrets takes out of STS's words what was sent as a secret, by its value and by its place.
func (c stsCall) withoutSecrets(message string) string {
	for _, secret := range c.secrets {
		if value := secret.Reveal(); value != "" {
			message = strings.ReplaceAll(message, value, secret.String())
		}
	}
	return echoes.ReplaceAllString(message, "Value '"+chain.Secret{}.String()+"' at '$1'")
}

// clock says how far the local clock can be trusted, for a verdict that hangs on a time.
func (s sighting) clock() string {
	skew := s.skew.Round(time.Second)
	switch {
	case !s.measured:
		return "STS' own clock decided; its answer had no date to measure the local one by"
	case skew > 0:
		return fmt.Sprintf("STS' own clock decided; the local one is %s ahead of it", skew)
	case skew < 0:
		return fmt.Sprintf("STS' own clock decided; the local one is %s behind it", -skew)
	}
	return "STS' own clock decided; the local one agrees with it"
}

// judgeSTS decides by this order: no answer, an answer that is not STS's, signatures (where the clock comes first), then the code. What no row names is sts_error.
func judgeSTS(operation string, a answer) finding {
	switch {
	case a.status == 0:
		return finding{chain.StepSTS, chain.ReasonSTSUnreachable, ""}
	case a.stranger(), a.code == "" && a.status < 500:
		return finding{chain.StepSTS, chain.ReasonSTSUnreachable, "something that is not STS answered in its place"}
	case a.code == "AccessDenied" || a.code == "AccessDeniedException":
		return judgeDenial(operation, a.message)
	case signatureCodes[a.code]:
		return judgeSignature(operation, a)
	case a.code == "InvalidIdentityToken" || a.code == "InvalidIdentityTokenException":
		return judgeIdentityToken(a.message)
	}
	if byOperation, ok := stsCodes[a.code]; ok {
		if found, ok := byOperation[operation]; ok {
			return found
		}
		if found, ok := byOperation[""]; ok {
			return found
		}
	}
	return finding{chain.StepSTS, chain.ReasonSTSError, ""}
}

// signatureCodes are the codes of AWS services for a signature that is not believed (IAM, "Common errors"; aws-sdk-go-v2 retry, clockSkewCodes).
var signatureCodes = map[string]bool{
	"SignatureDoesNotMatch": true, "InvalidSignatureException": true, "InvalidSignature": true, "RequestExpired": true, "RequestTimeTooSkewed": true,
	"RequestInTheFuture": true, "AuthFailure": true,
}

// stsCodes maps a code, by operation ("" any other), to its reason.
var stsCodes = map[string]map[string]finding{
	"ExpiredToken":                expired,
	"ExpiredTokenException":       expired,
	"InvalidClientTokenId":        {"": {chain.StepSTS, chain.ReasonCredentialsInvalid, ""}},
	"UnrecognizedClientException": {"": {chain.StepSTS, chain.ReasonCredentialsInvalid, ""}},
	"RegionDisabledException":     {"": {chain.StepSTS, chain.ReasonSTSRegionDisabled, ""}},
}

var expired = map[string]finding{
	opWebIdentity: {chain.StepCredentials, chain.ReasonIdentityTokenExpired, ""},
	"":            {chain.StepSTS, chain.ReasonCredentialsExpired, ""},
}

// deniedBy are the texts in which a denial names the policy that it comes from (IAM user guide, "Troubleshoot access denied error messages").
var deniedBy = regexp.MustCompile(`explicit deny in|because no .*polic(y|ies) allow`)

// judgeDenial: a bare AccessDenied never says which of policy, condition, external id or deleted role it was. One that names its policy needs no word of ours, and blames the trust policy only by name.
func judgeDenial(operation, message string) finding {
	named := deniedBy.MatchString(message)
	switch {
	case operation == opWebIdentity && named && !strings.Contains(message, "trust policy"):
		return finding{chain.StepSTS, chain.ReasonAssumeRoleDenied, ""}
	case operation == opWebIdentity && named:
		return finding{chain.StepSTS, chain.ReasonIRSATrustDenied, ""}
	case operation == opWebIdentity:
		return finding{chain.StepSTS, chain.ReasonIRSATrustDenied, "STS does not say which condition of the trust policy failed"}
	case operation == opAssumeRole && (named || strings.Contains(message, "may not be assumed by root accounts")):
		return finding{chain.StepSTS, chain.ReasonAssumeRoleDenied, ""}
	case operation == opAssumeRole:
		return finding{chain.StepSTS, chain.ReasonAssumeRoleDenied, "STS does not say which condition failed, and the action it names need not be the cause"}
	}
	return finding{chain.StepSTS, chain.ReasonSTSError, ""}
}

// judgeSignature: the measured clock goes before every other cause, then STS's own words, since all of these share one code.
func judgeSignature(operation string, a answer) finding {
	expiredText := strings.Contains(a.message, "Signature expired") || a.code == "RequestExpired"
	switch {
	case a.measured && a.skew > maxAhead:
		return finding{chain.StepSTS, chain.ReasonClockAhead, fmt.Sprintf("the local clock is %s ahead of STS", a.skew.Round(time.Second))}
	case a.measured && -a.skew > maxBehind:
		return finding{chain.StepSTS, chain.ReasonClockBehind, fmt.Sprintf("the local clock is %s behind STS", (-a.skew).Round(time.Second))}
	case expiredText && operation == opReplay && a.measured:
		return finding{chain.StepToken, chain.ReasonTokenExpired, "the clock agrees with STS, so the token itself is older than 15 minutes"}
	case expiredText:
		return finding{chain.StepSTS, chain.ReasonClockBehind, ""}
	case strings.Contains(a.message, "Signature not yet current") || a.code == "RequestInTheFuture":
		return finding{chain.StepSTS, chain.ReasonClockAhead, ""}
	case strings.Contains(a.message, "scoped to a valid region"):
		return finding{chain.StepSTS, chain.ReasonSTSRegionScopeMismatch, "the request is signed for another region than the host's"}
	case strings.Contains(a.message, "does not match the signature you provided"):
		return finding{chain.StepSTS, chain.ReasonSignatureInvalid, ""}
	case strings.Contains(a.message, "scoped to correct service"):
		return finding{chain.StepSTS, chain.ReasonSTSError, "the host may be another service's: check AWS_ENDPOINT_URL and AWS_ENDPOINT_URL_STS"}
	}
	return finding{chain.StepSTS, chain.ReasonSTSError, ""}
}

// identityTokenMessages are the texts by which STS tells its refusals of a web identity token apart; they share the code InvalidIdentityToken.
var identityTokenMessages = []struct {
	text string
	finding
}{
	{"No OpenIDConnect provider found", finding{chain.StepSTS, chain.ReasonOIDCProviderMissing, ""}},
	{"configured thumbprint", finding{chain.StepSTS, chain.ReasonOIDCThumbprintMismatch, "this is the certificate of the OIDC issuer, not of STS"}},
	{"Incorrect token audience", finding{chain.StepSTS, chain.ReasonIRSAAudienceMismatch, ""}},
	{"not a valid JWT", finding{chain.StepCredentials, chain.ReasonWebIdentityTokenMalformed, ""}},
}

func judgeIdentityToken(message string) finding {
	for _, row := range identityTokenMessages {
		if strings.Contains(message, row.text) {
			return row.finding
		}
	}
	return finding{chain.StepSTS, chain.ReasonSTSError, ""}
}
