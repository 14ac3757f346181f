// DescribeTargetHealth, RegisterTargets and DeregisterTargets as the SDK calls them, and what else happens to target groups.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func target(id string, port int32) types.TargetDescription {
	description := types.TargetDescription{Id: &id}
	if port != 0 {
		description.Port = &port
	}
	return description
}

// healthLines are the descriptions of an answer, a line for each.
func healthLines(output *elb.DescribeTargetHealthOutput) []string {
	list := []string{}
	for _, d := range output.TargetHealthDescriptions {
		line := fmt.Sprint(*d.Target.Id, ":", *d.Target.Port, " ", aws.ToString(d.Target.AvailabilityZone), " ", *d.HealthCheckPort, " ", d.TargetHealth.State, " ", d.TargetHealth.Reason)
		switch o := d.AdministrativeOverride; {
		case o == nil:
			line += " -"
		case o.State != types.TargetAdministrativeOverrideStateEnumNoOverride:
			line += fmt.Sprint(" ", o.State, " ", o.Reason)
		}
		if d.AnomalyDetection != nil {
			line += fmt.Sprint(" ", d.AnomalyDetection.Result, " ", d.AnomalyDetection.MitigationInEffect)
		}
		list = append(list, line)
	}
	return list
}

func TestDescribeTargetHealth(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*State)
		input  elb.DescribeTargetHealthInput
		want   []string
	}{
		"all": {
			input: elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup)},
			want:  []string{"10.0.1.11:8080 eu-west-1a 8080 healthy ", "10.0.1.12:8080 eu-west-1a 8080 healthy "},
		},
		"an empty group": {input: elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(freeGroup)}, want: []string{}},
		"some, as they are asked for": {
			input: elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup), Targets: []types.TargetDescription{target("10.0.1.12", 8080), target("10.0.1.11", 0)}},
			want:  []string{"10.0.1.12:8080 eu-west-1a 8080 healthy ", "10.0.1.11:8080 eu-west-1a 8080 healthy "},
		},
		"some that are not registered": {
			input: elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup), Targets: []types.TargetDescription{target("10.0.1.11", 9090), target("10.0.1.99", 0)}},
			want:  []string{"10.0.1.11:9090  9090 unused Target.NotRegistered -", "10.0.1.99:8080  8080 unused Target.NotRegistered -"},
		},
		"instances have no zone, and a health check port of the group's": {
			input: elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(tcpGroup), Include: []types.DescribeTargetHealthInputIncludeEnum{"All"}},
			want:  []string{"i-0123456789abcdef0:8080  9000 healthy "},
		},
		"anomalies": {
			change: func(s *State) {
				s.TargetGroup(shopGroup).Targets[1].Anomalous, s.TargetGroup(shopGroup).Targets[1].Mitigated = true, true
			},
			input: elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup), Include: []types.DescribeTargetHealthInputIncludeEnum{"AnomalyDetection"}},
			want:  []string{"10.0.1.11:8080 eu-west-1a 8080 healthy  normal no", "10.0.1.12:8080 eu-west-1a 8080 healthy  anomalous yes"},
		},
		"a zonal shift": {
			change: func(s *State) {
				s.ELB.LoadBalancer(shopALB).Shifted = zoneB
				s.TargetGroup(shopGroup).Targets[1].Zone = zoneB
			},
			input: elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup)},
			want: []string{
				"10.0.1.11:8080 eu-west-1a 8080 healthy ",
				"10.0.1.12:8080 eu-west-1b 8080 healthy  zonal_shift_active AdministrativeOverride.ZonalShiftActive",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newELBAccount(t)
			if c.change != nil {
				a.state.Change(c.change)
			}
			output, err := a.elbClient(t, testUser, testRegion).DescribeTargetHealth(t.Context(), &c.input)
			must(t, err)
			wantSame(t, healthLines(output), c.want)
		})
	}
}

// TestRollout replaces a target, in virtual time: it is registered, becomes healthy, and the old one drains and goes.
func TestRollout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := NewState()
		state.Roles[controllerARN] = &Role{ARN: controllerARN, RoleID: "AROACONTROLLER", ReadsELB: true, ManagesELB: true}
		state.Sessions["ASIACONTROLLER"] = &Session{AccessKeyID: "ASIACONTROLLER", SecretKey: "a session's", SessionToken: "token", ARN: "arn:aws:sts::111122223333:assumed-role/controller/x",
			UserID: "AROACONTROLLER:x", AccountID: testAccount, Expires: time.Now().Add(time.Hour)}
		state.ELB = testBalancing(time.Now().Add(-time.Hour))
		client := elb.New(elb.Options{Region: testRegion, HTTPClient: &http.Client{Transport: InProcess(ELBHandler(state))}, Retryer: aws.NopRetryer{},
			Credentials: provider(aws.Credentials{AccessKeyID: "ASIACONTROLLER", SecretAccessKey: "a session's", SessionToken: "token"})})
		want := func(lines ...string) {
			t.Helper()
			output, err := client.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup)})
			must(t, err)
			wantSame(t, healthLines(output), lines)
		}
		const first, second, third = "10.0.1.11:8080 eu-west-1a 8080 ", "10.0.1.12:8080 eu-west-1a 8080 ", "10.0.1.13:8080 eu-west-1a 8080 "
		register := func(id string) {
			_, err := client.RegisterTargets(t.Context(), &elb.RegisterTargetsInput{TargetGroupArn: aws.String(shopGroup), Targets: []types.TargetDescription{{Id: &id, AvailabilityZone: aws.String(zoneA)}}})
			must(t, err)
		}
		deregister := func(id string) error {
			_, err := client.DeregisterTargets(t.Context(), &elb.DeregisterTargetsInput{TargetGroupArn: aws.String(shopGroup), Targets: []types.TargetDescription{target(id, 8080)}})
			return err
		}
		register("10.0.1.13")
		register("10.0.1.11") // which is there already
		want(first+"healthy ", second+"healthy ", third+"initial Elb.RegistrationInProgress")
		time.Sleep(2 * time.Second)
		want(first+"healthy ", second+"healthy ", third+"initial Elb.InitialHealthChecking")
		time.Sleep(10 * time.Second)
		want(first+"healthy ", second+"healthy ", third+"healthy ")
		must(t, deregister("10.0.1.11"))
		want(first+"draining Target.DeregistrationInProgress", second+"healthy ", third+"healthy ")
		time.Sleep(299 * time.Second)
		must(t, deregister("10.0.1.11")) // which does not make it stay longer
		want(first+"draining Target.DeregistrationInProgress", second+"healthy ", third+"healthy ")
		time.Sleep(time.Second)
		want(second+"healthy ", third+"healthy ")
		wantAnswer(t, deregister("10.0.1.99"), awsAnswer{400, "InvalidTarget", "The following targets are not registered with the target group: '10.0.1.99'"})

		must(t, deregister("10.0.1.12"))
		register("10.0.1.12") // which begins anew
		want(third+"healthy ", second+"initial Elb.RegistrationInProgress")
	})
}

func TestRegisterNothing(t *testing.T) {
	a := newELBAccount(t)
	client := a.elbClient(t, a.assume(t, controllerARN, ""), testRegion)
	_, err := client.RegisterTargets(t.Context(), &elb.RegisterTargetsInput{TargetGroupArn: aws.String(shopGroup), Targets: []types.TargetDescription{}})
	wantAnswer(t, err, awsAnswer{400, "ValidationError", "Targets must not be empty"})
}

// TestChanges goes through what faults do, each looked at later on.
func TestChanges(t *testing.T) {
	const a, b = "10.0.1.11", "10.0.1.12"
	for name, c := range map[string]struct {
		change func(*State)
		wait   time.Duration
		want   []string
	}{
		"one target's answers": {func(s *State) { s.TargetGroup(shopGroup).Answer(CheckStatus, 404, b) }, time.Minute, []string{a + " healthy ", b + " unhealthy Target.ResponseCodeMismatch"}},
		"all targets' answers": {func(s *State) { s.TargetGroup(shopGroup).Answer(CheckSilence, 0) }, time.Minute, []string{a + " unhealthy Target.Timeout", b + " unhealthy Target.Timeout"}},
		"before it is noticed": {func(s *State) { s.TargetGroup(shopGroup).Answer(CheckSilence, 0) }, 3 * time.Second, []string{a + " healthy ", b + " healthy "}},
		"a stopped process":    {func(s *State) { s.TargetGroup(shopGroup).Stop(a) }, time.Minute, []string{a + " unhealthy Target.FailedHealthChecks", b + " healthy "}},
		"a pin": {func(s *State) {
			s.TargetGroup(shopGroup).Pin(PinnedHealth{chain.TargetUnhealthy, chain.CodeInternalError}, a)
		}, 0, []string{a + " unhealthy Elb.InternalError", b + " healthy "}},
		"a deregistration":       {func(s *State) { s.TargetGroup(shopGroup).Deregister(a) }, time.Minute, []string{a + " draining Target.DeregistrationInProgress", b + " healthy "}},
		"a deregistration's end": {func(s *State) { s.TargetGroup(shopGroup).Deregister() }, time.Hour, []string{}},
		"a zone that is off":     {func(s *State) { s.TargetGroup(shopGroup).Move(a, SceneOtherZone) }, time.Hour, []string{a + " unused Target.NotInUse", b + " healthy "}},
		"a zone that is on":      {func(s *State) { s.TargetGroup(shopGroup).Move(a, zoneB) }, 3 * time.Second, []string{a + " initial Elb.InitialHealthChecking", b + " healthy "}},
		"a zone that comes on": {func(s *State) {
			s.TargetGroup(shopGroup).Move(a, SceneOtherZone)
			s.offset += time.Hour
			s.EnableZone(shopALB, SceneOtherZone)
			s.EnableZone(shopALB, zoneA) // which is on already
		}, 3 * time.Second, []string{a + " initial Elb.InitialHealthChecking", b + " healthy "}},
		"detached": {func(s *State) { s.DetachGroup(shopGroup) }, time.Hour, []string{a + " unused Target.NotInUse", b + " unused Target.NotInUse"}},
		"attached again": {func(s *State) {
			s.DetachGroup(shopGroup)
			s.offset += time.Hour
			s.AttachGroup(shopALB, shopGroup, "shop.example.test")
		}, 3 * time.Second, []string{a + " initial Elb.InitialHealthChecking", b + " initial Elb.InitialHealthChecking"}},
		"attached to another host": {func(s *State) { s.AttachGroup(shopALB, shopGroup, "more.example.test") }, 0, []string{a + " healthy ", b + " healthy "}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := NewState()
				state.ELB = testBalancing(time.Now().Add(-time.Hour))
				state.Change(c.change)
				time.Sleep(c.wait)
				got := []string{}
				state.Change(func(s *State) {
					view := s.TargetGroup(shopGroup)
					for _, target := range view.listed() {
						health := view.health(target)
						got = append(got, fmt.Sprint(target.ID, " ", health.State, " ", health.Code))
					}
				})
				wantSame(t, got, c.want)
			})
		})
	}
}

func TestDeleteGroup(t *testing.T) {
	a := newELBAccount(t)
	a.state.Change(func(s *State) { s.DeleteGroup(shopGroup) })
	client := a.elbClient(t, testUser, testRegion)
	_, err := client.DescribeTargetHealth(t.Context(), &elb.DescribeTargetHealthInput{TargetGroupArn: aws.String(shopGroup)})
	wantAnswer(t, err, awsAnswer{400, "TargetGroupNotFound", "Target groups '" + shopGroup + "' not found"})
	got, err := client.DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{})
	must(t, err)
	wantSame(t, names(got.TargetGroups), []string{"free", "tcp"})
}

// A change of what is not there is a defect of the fault, which must show at once.
func TestChangesOfNothing(t *testing.T) {
	state := NewState()
	state.ELB = testBalancing(time.Now())
	for name, c := range map[string]struct {
		change func()
		want   string
	}{
		"group":         {func() { state.TargetGroup("arn") }, "sandbox: there is no target group arn"},
		"target":        {func() { state.TargetGroup(shopGroup).Stop("10.9.9.9") }, "sandbox: target group " + shopGroup + " has no target 10.9.9.9"},
		"load balancer": {func() { state.EnableZone("arn", zoneA) }, "sandbox: there is no load balancer arn"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { wantSame(t, recover(), any(c.want)) }()
			c.change()
		})
	}
}
