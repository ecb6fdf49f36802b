package harness

import (
	"regexp"
)

var MasterToken = regexp.MustCompile(`MT_([0-9a-f]{32})_[0-9a-f]{32}`)
