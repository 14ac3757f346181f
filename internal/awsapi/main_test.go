// Every test of the package ends with no goroutine left. A proxy stands for the internet: net/http reads HTTPS_PROXY once per process, so it is set here.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/eks-slo/eks-slo-exporter/internal/sandbox"
)

// internet is an AWS that is reached under its canonical names, through the proxy.
var internet struct {
	state *sandbox.State
	ca    *sandbox.CA
	sts   *sandbox.STS
	proxy *sandbox.Proxy
}

type withInternet struct{ *testing.M }

func (m withInternet) Run() int {
	if err := startInternet(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.M.Run()
	if err := errors.Join(internet.proxy.Close(), internet.sts.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func startInternet() (err error) {
	internet.state = sandbox.NewState()
	if internet.ca, err = sandbox.NewCA(); err != nil {
		return err
	}
	if internet.sts, err = sandbox.NewSTS(internet.state, internet.ca); err != nil {
		return err
	}
	if internet.proxy, err = sandbox.NewProxy(sandbox.ProxyRoute{Host: "sts.*amazonaws.com:443", Address: internet.sts.Addr()}); err != nil {
		return err
	}
	return os.Setenv("HTTPS_PROXY", internet.proxy.URL())
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(withInternet{m}) }
