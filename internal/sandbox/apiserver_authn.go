// Who a request is from: the bearer token, judged by the authenticator at most once in ten seconds, or nobody.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	tokenCacheLife    = 10 * time.Second // the apiserver's outer cache of successes; it keeps no denial (kube-apiserver, token cache)
	tokenReviewLimit  = 30 * time.Second // the webhook's timeout
	userAnonymous     = "system:anonymous"
	groupAuthenticate = "system:authenticated"
	groupAnonymous    = "system:unauthenticated"
)

// Anonymous says which requests may come without a token.
type Anonymous uint8

// Who may be nobody.
const (
	AnonymousAnywhere Anonymous = iota // kube-apiserver's default: system:anonymous, whom RBAC refuses with a 403
	AnonymousHealth                    // on the health paths alone, 401 elsewhere (EKS since Kubernetes 1.32)
	AnonymousNowhere                   // --anonymous-auth=false: 401
)

// healthPaths are those on which EKS lets nobody in.
var healthPaths = []string{"/readyz", "/livez", "/healthz"}

// publicPaths are open to everyone, with no credential too (ClusterRole system:public-info-viewer), with the operation that each is recorded as.
var publicPaths = map[string]string{"/readyz": "Readyz", "/livez": "Livez", "/healthz": "Healthz", "/version": "Version", "/version/": "Version"}

// identify returns the user of a request, or 401. A token that is sent and refused is a 401 everywhere, on public paths too.
func (a *APIServer) identify(r *http.Request) (authenticationv1.UserInfo, error) {
	token := bearer(r)
	if token == "" {
		if allowed := a.anonymous(); allowed == AnonymousAnywhere || allowed == AnonymousHealth && slices.Contains(healthPaths, r.URL.Path) {
			return authenticationv1.UserInfo{Username: userAnonymous, Groups: []string{groupAnonymous}}, nil
		}
		return authenticationv1.UserInfo{}, apierrors.NewUnauthorized("Unauthorized")
	}
	user, err := a.tokens.authenticate(r.Context(), token, a.state.Now, a.auth.webhook)
	if err != nil {
		return authenticationv1.UserInfo{}, apierrors.NewUnauthorized("Unauthorized")
	}
	return user, nil
}

// bearer returns the token of the Authorization header; "" when there is none.
func bearer(r *http.Request) string {
	scheme, token, found := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !found || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// tokenCache remembers accepted tokens, and lets requests that come with the same token at the same time share one review. Its zero value is empty.
type tokenCache struct {
	flight  singleflight.Group
	mu      sync.Mutex
	entries map[[sha256.Size]byte]cachedUser
}

type cachedUser struct {
	user authenticationv1.UserInfo
	at   time.Time
}

type reviewToken func(ctx context.Context, token string) (authenticationv1.UserInfo, error)

func (c *tokenCache) authenticate(ctx context.Context, token string, now func() time.Time, review reviewToken) (authenticationv1.UserInfo, error) {
	key := sha256.Sum256([]byte(token))
	if user, found := c.get(key, now()); found {
		return user, nil
	}
	shared, err, _ := c.flight.Do(string(key[:]), func() (any, error) {
		if user, found := c.get(key, now()); found { // a review ended between the look above and here
			return user, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenReviewLimit) // others wait for it too
		defer cancel()
		user, err := review(ctx, token)
		if err != nil {
			return nil, err
		}
		user.Groups = withGroup(user.Groups, groupAuthenticate)
		c.put(key, user, now())
		return user, nil
	})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	user, isUser := shared.(authenticationv1.UserInfo)
	if !isUser {
		return authenticationv1.UserInfo{}, fmt.Errorf("sharing a token review: it gave a %T", shared)
	}
	return user, nil
}

func (c *tokenCache) get(key [sha256.Size]byte, now time.Time) (authenticationv1.UserInfo, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cached, found := c.entries[key]
	return cached.user, found && cached.fresh(now)
}

func (c *tokenCache) put(key [sha256.Size]byte, user authenticationv1.UserInfo, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for old, cached := range c.entries {
		if !cached.fresh(now) {
			delete(c.entries, old)
		}
	}
	if c.entries == nil {
		c.entries = map[[sha256.Size]byte]cachedUser{}
	}
	c.entries[key] = cachedUser{user, now}
}

// fresh also ends an entry whose future the sandbox's clock was moved back from.
func (c cachedUser) fresh(now time.Time) bool {
	age := now.Sub(c.at)
	return age >= 0 && age < tokenCacheLife
}

// withGroup adds a group unless it is there.
func withGroup(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(slices.Clone(groups), group)
}
