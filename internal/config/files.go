// Files that the configuration names and that must be there when it is loaded.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// readFile reads the file that a key names, and returns its resolved name. data is nil when the key is not given or the file cannot be used.
func (d *decoder) readFile(f fields, key string) (name string, data []byte) {
	text := f.text(key)
	if text == "" {
		return "", nil
	}
	name = d.path(text)
	data, err := readSmall(name)
	if err != nil {
		d.report(f.at(key), fileUnusable, key, text, err.Error())
		return name, nil
	}
	return name, data
}

// readSmall reads a regular file of at most maxSize bytes. Its errors do not repeat the file's name.
func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name) // before opening: a pipe would block
	switch {
	case err != nil:
		return nil, bare(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxSize:
		return nil, fmt.Errorf("larger than %d bytes", maxSize)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, bare(err)
	}
	return data, nil
}

func bare(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// caFile reads the key ca_file: PEM, with at least one certificate.
func (d *decoder) caFile(f fields) string {
	name, data := d.readFile(f, "ca_file")
	if data != nil && !x509.NewCertPool().AppendCertsFromPEM(data) {
		d.report(f.at("ca_file"), noCertificate, f.text("ca_file"))
	}
	return name
}
