// Secrets never go into the configuration file; where one is found there, neither a message nor an excerpt shows it.
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eks-slo/eks-slo-exporter/internal/chain"
)

// secretWords are the keys, or ends of keys, whose values are secrets. A key that ends in _file names a file and is none.
const secretWords = `(?:secret|password|passwd|external[_-]?id|(?:access|secret|private|api)[_-]?key(?:[_-]?id)?|token|credentials?)`

// queryWords are names in a URL's query, beside those, whose values let somebody in.
const queryWords = `(?:auth|authorization|jwt|pass|pwd|sig|signature)`

var (
	secretName  = regexp.MustCompile(`^(?i:(?:.*[_-])?` + secretWords + `)$`)
	secretEntry = regexp.MustCompile(`(?i)` + secretWords + `s?["']?\s*[:=]\s*|bearer\s+|://[^\s/@]*@|[?&](?:[^=&\s"']*[_.-])?` + queryWords + `=`)
	httpEntry   = regexp.MustCompile(`(?i)(?:^|[\s,{"'])(?:(?:[a-z_]+_)?key|proxy_connect_header)["']?\s*:\s*|(?:^|[\s,{"'])(?:basic_auth|authorization)["']?\s*:\s*["']?[^\s{&*"'|>#]`) // of http_config, where a key is a secret and so is what stands in place of a mapping
	encodedKey  = regexp.MustCompile(`[?&][^=&\s"']*%[0-9A-Fa-f]{2}[^=&\s"']*=`)
	yamlWord    = regexp.MustCompile(`[^\s,{}\[\]"']+`)
)

// isSecretKey reports whether the value of a key would be a secret.
func isSecretKey(key string) bool { return secretName.MatchString(key) }

// secretHint says where the value of a secret key belongs.
func secretHint(key string) string {
	if strings.HasPrefix(strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key)), "externalid") {
		return "write it to a file, and name the file in external_id_file"
	}
	return "credentials come from the identity's source: irsa, profile, environment or default"
}

// secretStart returns the byte of a line where something begins that may be a secret: the value of a secret key, a password in a URL, or the shape of a token or key. It is the line's length when nothing does.
func secretStart(line string) int {
	start := len(line)
	if found := secretEntry.FindStringIndex(line); found != nil {
		start = found[1]
		if line[start-1] == '@' {
			start = found[0] + len("://")
		}
	}
	if found := httpEntry.FindStringIndex(line[:start]); found != nil {
		start = found[1]
		if last := line[start-1]; last != ' ' && last != ':' && last != '\t' { // the first byte of the value
			start--
		}
	}
	if found := encodedKey.FindStringIndex(line[:start]); found != nil { // which may spell one of those names
		start = found[1]
	}
	for _, word := range yamlWord.FindAllStringIndex(line[:start], -1) {
		if hasSecretShape(line[word[0]:word[1]]) {
			return word[0]
		}
	}
	return start
}

// hasSecretShape reports whether chain.Redact finds something in a word. Of a long word the first bytes decide.
func hasSecretShape(word string) bool {
	const enough = 500
	word = strings.Map(func(r rune) rune { // what Redact would change for other reasons
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '.'
		}
		return r
	}, word[:min(len(word), enough)])
	return chain.Redact(word) != word
}
