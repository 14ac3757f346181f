// A stray is a part of the aws-auth ConfigMap that maps nobody, because a key of it is not one that the authenticator knows.
//
// SPDX-License-Identifier: Apache-2.0

package chain

// Stray is a section that is not mapRoles, mapUsers or mapAccounts, or a line of mapRoles or mapUsers without rolearn or userarn.
type Stray struct {
	Where string   // mapRoles[2], counted from 0, or the section's name
	Keys  []string // the keys of the line, as written; of a section none
	ARNs  []string // the ARNs that it names, under whatever key
}
