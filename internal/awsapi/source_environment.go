// Source environment: the access key in the process's environment, and nothing else of the SDK's chain.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"context"
	"os"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

func openEnvironment(_ context.Context, l *Login) (opened, error) {
	credentials := aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
	facts := chain.Facts{chain.FactProvider: "environment"}
	var missing []string
	if credentials.AccessKeyID == "" {
		missing = append(missing, "AWS_ACCESS_KEY_ID")
	}
	if credentials.SecretAccessKey == "" {
		missing = append(missing, "AWS_SECRET_ACCESS_KEY")
	}
	if len(missing) > 0 {
		return opened{}, l.fail(chain.ReasonNoCredentials, facts, nil, "opening the source environment: not set: %s", strings.Join(missing, ", "))
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		if strings.ContainsFunc(os.Getenv(name), unicode.IsControl) { // the end of a file's last line, mostly
			return opened{}, l.fail(chain.ReasonNoCredentials, facts, nil, "opening the source environment: %s holds a line break or control character", name)
		}
	}
	return opened{credentials: credentials, facts: facts}, nil
}
