// Sign-ins under way, so that those who need the same one wait for it. Who came first makes it, in its own time; no goroutine is started.
//
// SPDX-License-Identifier: Apache-2.0

package awsapi

import "sync"

// signIns are the sign-ins under way, by key. The zero value has none.
type signIns struct {
	mu       sync.Mutex
	underWay map[string]*sharedSignIn
}

// sharedSignIn is one sign-in. What it holds may be read once done is closed.
type sharedSignIn struct {
	done     chan struct{}
	session  *Session
	err      error
	cutShort bool // the run that made it ended, which says nothing to the others
}

// join returns the sign-in under way, or begins one: then the caller is the first, makes it and ends it.
func (s *signIns) join(key string) (shared *sharedSignIn, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.underWay[key]; ok {
		return found, false
	}
	if s.underWay == nil {
		s.underWay = map[string]*sharedSignIn{}
	}
	s.underWay[key] = &sharedSignIn{done: make(chan struct{})}
	return s.underWay[key], true
}

func (s *signIns) end(key string, shared *sharedSignIn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.underWay, key)
	close(shared.done)
}
