package guest

import (
	"errors"
	"net"
	"regexp"
	"strconv"
	"strings"
)

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)

// CheckHost wants what an edge can be reached under: a host name or address, with or
// without a port.
func CheckHost(text string) error {
	host := text
	if strings.Contains(text, "/") {
		return errors.New("must be a host name, with a port if it is not 443, and no URL")
	}
	if name, port, err := net.SplitHostPort(text); err == nil {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return errors.New("the port must be from 1 to 65535")
		}
		host = name
	}
	if len(host) > 253 || !hostName.MatchString(host) && net.ParseIP(host) == nil {
		return errors.New("must be a host name, with a port if it is not 443")
	}
	return nil
}
