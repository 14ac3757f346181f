// The pages of every list of the EKS API.
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
)

const eksPageSize = 100 // the default of every list, and its largest page

// pageOf sorts names and cuts the page that the request asks for; next names the last one shown, opaquely, and is "" on the last page.
func pageOf(names []string, r *http.Request) (page []string, next string, fault *eksError) {
	query, size := r.URL.Query(), eksPageSize
	if text := query.Get("maxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > eksPageSize {
			return nil, "", &eksError{Status: http.StatusBadRequest, Code: "InvalidParameterException", Message: "maxResults must be between 1 and 100, not " + text}
		}
		size = n
	}
	after, err := base64.URLEncoding.DecodeString(query.Get("nextToken"))
	if err != nil {
		return nil, "", &eksError{Status: http.StatusBadRequest, Code: "InvalidParameterException", Message: "Invalid nextToken"}
	}
	slices.Sort(names)
	start, _ := slices.BinarySearch(names, string(after)+"\x00")
	page = append([]string{}, names[start:]...)
	if len(page) > size {
		page = page[:size]
		next = base64.URLEncoding.EncodeToString([]byte(page[size-1]))
	}
	return page, next, nil
}

func withNext(answer map[string]any, next string) map[string]any {
	if next != "" {
		answer["nextToken"] = next
	}
	return answer
}
