// The authority: what it issues, and for how long.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/x509"
	"testing"
	"time"
)

func TestIssue(t *testing.T) {
	ca, err := NewCA()
	must(t, err)
	other, err := NewCA()
	must(t, err)
	now := time.Now()
	for name, c := range map[string]struct {
		options IssueOptions
		host    string
		pool    *x509.CertPool
		want    any // the type of the verification's error; nil for success
	}{
		"dns name":          {options: IssueOptions{Names: []string{"a.example.com"}}, host: "a.example.com", pool: ca.Pool()},
		"address":           {options: IssueOptions{Names: []string{"a.example.com", "127.0.0.1"}}, host: "127.0.0.1", pool: ca.Pool()},
		"wildcard":          {options: IssueOptions{Names: []string{"*.example.com"}}, host: "b.example.com", pool: ca.Pool()},
		"another name":      {options: IssueOptions{Names: []string{"a.example.com"}}, host: "b.example.com", pool: ca.Pool(), want: x509.HostnameError{}},
		"another authority": {options: IssueOptions{Names: []string{"a.example.com"}}, host: "a.example.com", pool: other.Pool(), want: x509.UnknownAuthorityError{}},
		"expired": {
			options: IssueOptions{Names: []string{"a.example.com"}, NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(-24 * time.Hour)},
			host:    "a.example.com", pool: ca.Pool(), want: x509.CertificateInvalidError{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cert, err := ca.Issue(c.options)
			must(t, err)
			if len(cert.Certificate) != 1 {
				t.Errorf("the chain holds %d certificates, want the leaf alone", len(cert.Certificate))
			}
			_, err = cert.Leaf.Verify(x509.VerifyOptions{Roots: c.pool, DNSName: c.host})
			wantSameType(t, err, c.want)
		})
	}
}

func TestIssueNeedsAName(t *testing.T) {
	ca, err := NewCA()
	must(t, err)
	if _, err := ca.Issue(IssueOptions{}); err == nil || err.Error() != "issuing a certificate: Names is empty" {
		t.Errorf("error %v", err)
	}
}

func TestPEMIsTheAuthority(t *testing.T) {
	ca, err := NewCA()
	must(t, err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca.PEM()) || !pool.Equal(ca.Pool()) {
		t.Error("PEM and Pool hold different authorities")
	}
}
