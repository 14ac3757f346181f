// Tests of certificates: authorities as files hold them, chains that end at one, and the words for those that are out of their time.
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// signer is an authority, or what one signed.
type signer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// sign makes a certificate that is good for an hour before and after noon; a nil authority signs itself.
func (s *signer) sign(t *testing.T, name string, isCA bool) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(time.Hour),
		IsCA: isCA, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent := &signer{template, key}
	if s != nil {
		parent = s
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent.certificate, key.Public(), parent.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{certificate, key}
}

func (s *signer) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.certificate.Raw}))
}

func TestParseCA(t *testing.T) {
	ca := (*signer)(nil).sign(t, "ca", true).pem()
	key := "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"
	broken := "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	for name, c := range map[string]struct{ text, want string }{
		"one":                       {ca, ""},
		"one among others":          {"rags\n" + key + ca, ""},
		"none":                      {"", "it holds no PEM certificate"},
		"only others":               {key, "it holds no PEM certificate"},
		"a broken one after a good": {ca + broken, "certificate 2: x509: "},
	} {
		t.Run(name, func(t *testing.T) {
			pool, err := ParseCA([]byte(c.text))
			switch {
			case c.want == "" && (err != nil || pool.Equal(x509.NewCertPool())):
				t.Errorf("got an empty pool, or %v", err)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	ca, other := (*signer)(nil).sign(t, "ca", true), (*signer)(nil).sign(t, "other", true)
	between := ca.sign(t, "between", true)
	leaf := between.sign(t, "leaf", false)
	shown := []*x509.Certificate{leaf.certificate, between.certificate}
	pool := func(s *signer) *x509.CertPool {
		p := x509.NewCertPool()
		p.AddCert(s.certificate)
		return p
	}
	if err := Verify(shown, pool(ca), noon); err != nil {
		t.Errorf("a good chain, whatever its name: %v", err)
	}
	if err := Verify(shown, pool(other), noon); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("another authority: %v", err)
	}
	if err := Verify(shown[:1], pool(ca), noon); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("without what is between: %v", err)
	}
	if err := Verify(shown, pool(ca), noon.Add(2*time.Hour)); !errors.As(err, new(x509.CertificateInvalidError)) {
		t.Errorf("after its end: %v", err)
	}
	if err := Verify(nil, pool(ca), noon); err == nil {
		t.Error("no certificate is as good as any")
	}
}

func TestOutOfTime(t *testing.T) {
	ca := (*signer)(nil).sign(t, "ca", true)
	leaf := ca.sign(t, "leaf", false)
	for want, c := range map[string]struct {
		certificate *x509.Certificate
		now         time.Time
	}{
		"the certificate of a.test ended at 2030-01-02T13:00:00Z, by the local clock (2030-01-02T14:00:00Z)":                                                         {leaf.certificate, noon.Add(2 * time.Hour)},
		"the certificate of a.test is not valid before 2030-01-02T11:00:00Z, by the local clock (2030-01-02T10:00:00Z)":                                              {leaf.certificate, noon.Add(-2 * time.Hour)},
		`the certificate authority "CN=ca", which signed the certificate of a.test, ended at 2030-01-02T13:00:00Z, by the local clock (2030-01-02T14:00:00Z), which`: {ca.certificate, noon.Add(2 * time.Hour)},
	} {
		if got := OutOfTime("a.test", c.certificate, c.now); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
