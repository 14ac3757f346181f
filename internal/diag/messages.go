// The wording of what is wrong with YAML itself, whatever the file is about.
//
// SPDX-License-Identifier: Apache-2.0

package diag

// The messages that a Reader reports by itself.
var (
	EmptyFile        = &Message{"the file is empty", "is this the right file?"}
	FileTooLarge     = &Message{"the file is larger than 1 MiB", "is this the right file?"}
	NotUTF8          = &Message{"byte 0x%02x is not UTF-8 text", "save the file as UTF-8"}
	ControlCharacter = &Message{"control character %U", "remove it; lines end with LF or CRLF"}
	TabIndent        = &Message{"a tab in the indentation", "indent with spaces"}
	SyntaxError      = &Message{"YAML syntax: %s", "check indentation, quotes and brackets here and just above"}
	SecondDocument   = &Message{"a second YAML document", "keep one document: remove the --- line and what follows"}
	TooManyValues    = &Message{"more than %d values, aliases expanded", "use fewer aliases of aliases, or split the file"}
	TooManyProblems  = &Message{"more than %d problems", "mend those listed first; the rest is not shown"}

	WrongType       = &Message{"%s must be %s, not %s", "%s"}
	NoValue         = &Message{"%s has no value", "give it a value, or remove the key"}
	KeyNotText      = &Message{"a key must be text", "write key: value"}
	DuplicateKey    = &Message{"duplicate key %q", "first written at line %d, column %d"}
	UnknownKey      = &Message{"unknown key %q", "%s"}
	MissingKey      = &Message{"missing key %q", "%s"}
	MergeNotMapping = &Message{"<< must be given a mapping, or a list of mappings", "write <<: *anchor"}
	MergeTooDeep    = &Message{"merge keys nest too deeply", "write the keys out"}
	ListedTwice     = &Message{"%s lists %q twice", "first listed at line %d, column %d"}
	UnknownChoice   = &Message{"unknown %s %q", "%s"}
	BadWholeNumber  = &Message{"%s must be a whole number from %d to %d", "write it in decimal digits, unquoted"}
	BadDuration     = &Message{"%s %q is no duration", "write whole numbers with units, such as 15s, 1m30s or 1h"}
)

// Messages are all of them, for tests.
func Messages() []*Message {
	return []*Message{
		EmptyFile, FileTooLarge, NotUTF8, ControlCharacter, TabIndent, SyntaxError, SecondDocument, TooManyValues, TooManyProblems,
		WrongType, NoValue, KeyNotText, DuplicateKey, UnknownKey, MissingKey, MergeNotMapping, MergeTooDeep,
		ListedTwice, UnknownChoice, BadWholeNumber, BadDuration,
	}
}
