// The tags of target groups and load balancers in the ELBv2 API.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

// elbTags are the tags of one resource in an answer.
type elbTags struct {
	ResourceArn string
	Tags        members[elbPair]
}

func (s *State) describeTags(c elbCall) (any, *awsError) {
	arns := listOf(c.form, "ResourceArns")
	if len(arns) == 0 || len(arns) > elbMaxARNs {
		return nil, elbInvalid("The number of resource ARNs must be between 1 and %d, not %d", elbMaxARNs, len(arns))
	}
	var answer struct{ TagDescriptions members[elbTags] }
	for _, arn := range arns {
		tags, fault := s.tagsOf(c, arn)
		if fault != nil {
			return nil, fault
		}
		answer.TagDescriptions.Member = append(answer.TagDescriptions.Member, elbTags{arn, pairsOf(tags)})
	}
	return answer, nil
}

func (s *State) tagsOf(c elbCall, arn string) (map[string]string, *awsError) {
	if arnPart(arn, 0) == elbKinds["load balancer"] {
		fault := c.invalid("load balancer", arn)
		if l := s.ELB.balancers[arn]; fault == nil && l != nil {
			return l.Tags, nil
		} else if fault == nil {
			fault = balancerNotFound(arn)
		}
		return nil, fault
	}
	fault := c.invalid("target group", arn)
	if g := s.ELB.groups[arn]; fault == nil && g != nil {
		return g.Tags, nil
	} else if fault == nil {
		fault = groupNotFound("Target groups '" + arn + "' not found")
	}
	return nil, fault
}
