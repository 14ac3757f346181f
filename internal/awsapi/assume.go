// Hops: every AssumeRoleWithWebIdentity and AssumeRole of an identity, for real, in order, one attempt each.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// denyAll is the inline session policy of the last hop: the session still is who it is, and may do nothing in AWS. GetCallerIdentity needs no permission (STS API).
const denyAll = `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`

// defaultDuration is the shortest session that STS grants.
const defaultDuration = 15 * time.Minute

// hop is one role to become, with all that its call needs.
type hop struct {
	place        string // "1 of 2"
	roleARN      string
	web          *webIdentity // nil: AssumeRole
	externalID   chain.Secret
	externalFrom string // where the external id was read; says nothing when there is none
	duration     time.Duration
	policy       *string
}

// plan lists the hops and reads the external ids. Only the last one carries the session policy.
func (l *Login) plan() ([]hop, error) {
	var hops []hop
	if l.source.web != nil {
		hops = append(hops, hop{roleARN: l.source.web.roleARN, web: l.source.web, duration: defaultDuration})
	}
	for _, h := range l.identity.Hops {
		id, err := l.externalID(h)
		if err != nil {
			return nil, err
		}
		next := hop{roleARN: h.RoleARN, externalID: id, externalFrom: cmp.Or(h.ExternalIDFile, "the TargetGroupBinding"), duration: h.Duration}
		if next.duration == 0 {
			next.duration = defaultDuration
		}
		hops = append(hops, next)
	}
	for i := range hops {
		hops[i].place = l.place(l.source.assumed+i+1, l.source.assumed+len(hops)-len(l.identity.Hops))
	}
	if len(hops) > 0 && l.identity.SessionPolicy == chain.SessionPolicyDenyAll {
		hops[len(hops)-1].policy = aws.String(denyAll)
	}
	return hops, nil
}

// Assume walks every hop. With reuse_session an earlier session of the identity in this region may serve instead, and its facts say so; the source was opened
// all the same. Errors are *chain.Error of the step sts, or the context's own.
func (l *Login) Assume(ctx context.Context) (*Session, error) {
	if l.source.refused != nil {
		return nil, l.source.refused
	}
	calls := l.client.sts(l.region)
	assume := l.walk
	if l.identity.ReuseSession > 0 && len(l.hops) > 0 {
		assume = l.reuse
	}
	session, err := assume(ctx, calls)
	if err != nil {
		calls.close()
		return nil, err
	}
	return session, nil
}

// reuse lets a kept session serve, after it was asked who it is: one that was revoked in the meantime gives way to a new one within the run.
func (l *Login) reuse(ctx context.Context, calls *stsCalls) (*Session, error) {
	now, key := l.client.options.Now(), sessionKey(l.identity, l.region)
	if kept, ok := l.client.sessions.get(key, now); ok {
		session := kept.reusedAt(now, calls)
		answer := session.ask(ctx)
		if !sessionCodes[answer.code] {
			session.asked = &answer
			return session, nil
		}
		l.client.sessions.drop(key, kept)
	}
	session, err := l.walk(ctx, calls)
	if err == nil {
		l.client.sessions.put(key, session, now, l.identity.ReuseSession)
	}
	return session, err
}

func (l *Login) walk(ctx context.Context, calls *stsCalls) (*Session, error) {
	session := &Session{client: l.client, calls: calls, region: l.region, credentials: l.source.credentials, source: true, began: l.client.options.Now()}
	if err := l.checkPartitions(); err != nil {
		return nil, err
	}
	for _, h := range l.hops {
		granted, seen, err := l.take(ctx, h, session)
		facts := l.facts(h).Merge(seen.facts())
		if err != nil {
			call := stsCall{operation: h.operation(), doing: l.doing(h), facts: facts, secrets: h.secrets()}
			return nil, h.judge(l.client.refine(ctx, session, l.client.stsError(ctx, call, answerOf(err, seen))), l.client.options.Now())
		}
		if granted == nil || aws.ToString(granted.AccessKeyId) == "" {
			return nil, chain.Fail(chain.StepSTS, chain.ReasonSTSError, l.doing(h)+": STS answered without credentials", facts, nil)
		}
		session.source, session.facts = false, facts
		session.credentials = aws.Credentials{
			AccessKeyID: aws.ToString(granted.AccessKeyId), SecretAccessKey: aws.ToString(granted.SecretAccessKey), SessionToken: aws.ToString(granted.SessionToken),
			CanExpire: true, Expires: aws.ToTime(granted.Expiration),
		}
	}
	return session, nil
}

// checkPartitions is done before any call: a role of another partition is known to be out of reach, since no STS of this partition can name it.
func (l *Login) checkPartitions() error {
	partition, _ := regionPartition(l.region)
	for _, h := range l.hops {
		if of := chain.PartitionOf(h.roleARN); of != "" && of != partition {
			return chain.Fail(chain.StepSTS, chain.ReasonSTSWrongPartition, fmt.Sprintf("%s: the role is of the partition %s, and the STS of region %s is of %s",
				l.doing(h), of, l.region, partition), l.facts(h), nil)
		}
	}
	return nil
}

// take makes the one call of a hop, with what the hop before it gave.
func (l *Login) take(ctx context.Context, h hop, from *Session) (*types.Credentials, sighting, error) {
	seen := l.client.observe()
	seconds := aws.Int32(int32(h.duration.Seconds()))
	if h.web != nil {
		out, err := from.calls.api.AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: aws.String(h.roleARN), RoleSessionName: aws.String(l.sessionName()), WebIdentityToken: aws.String(h.web.token.value.Reveal()), DurationSeconds: seconds, Policy: h.policy,
		}, as(nil, seen))
		if err != nil {
			return nil, seen.seen(), err
		}
		return out.Credentials, seen.seen(), nil
	}
	in := &sts.AssumeRoleInput{RoleArn: aws.String(h.roleARN), RoleSessionName: aws.String(l.sessionName()), DurationSeconds: seconds, Policy: h.policy}
	if id := h.externalID.Reveal(); id != "" {
		in.ExternalId = aws.String(id)
	}
	out, err := from.calls.api.AssumeRole(ctx, in, as(from.provider(), seen))
	if err != nil {
		return nil, seen.seen(), err
	}
	return out.Credentials, seen.seen(), nil
}

// judge puts the end of a token first, where STS did not say anything against it.
func (h hop) judge(err error, now time.Time) error {
	if h.web == nil {
		return err
	}
	return h.web.judge(err, now)
}

// secrets are what the call of the hop sends that nobody may see.
func (h hop) secrets() []chain.Secret {
	if h.web != nil {
		return []chain.Secret{h.web.token.value}
	}
	return []chain.Secret{h.externalID}
}

func (h hop) operation() string {
	if h.web != nil {
		return opWebIdentity
	}
	return opAssumeRole
}

// place names a hop: the n-th, where the source itself makes the first few.
func (l *Login) place(n, ofSource int) string {
	return fmt.Sprintf("%d of %d", n, ofSource+len(l.identity.Hops))
}

// doing names a hop for people. Where the chain begins matters with Pod Identity: its session tags go along, and every further role must allow them.
func (l *Login) doing(h hop) string {
	from := ""
	if l.identity.Source == chain.SourcePodIdentity {
		from = ", from Pod Identity"
	}
	return fmt.Sprintf("assuming %s (hop %s%s)", h.roleARN, h.place, from)
}

func (l *Login) facts(h hop) chain.Facts {
	facts := chain.Facts{chain.FactHop: h.place, chain.FactRoleARN: h.roleARN, chain.FactRoleName: roleName(h.roleARN), chain.FactRegion: l.region}
	if h.externalID.Reveal() != "" {
		facts[chain.FactExternalID] = "sent, from " + h.externalFrom
	}
	return facts
}

// roleName is what the IAM commands call a role: its ARN's last part, without the path.
func roleName(arn string) string {
	_, resource, ok := strings.Cut(arn, ":role/")
	if !ok {
		return ""
	}
	return resource[strings.LastIndex(resource, "/")+1:]
}
