// Package plugin adds two modules to an edge: the hook office_hours and the broker
// unix. A build imports it for their registration.
package plugin

import (
	_ "example.com/millrace-plugin/officehours" // pubsub.hooks.office_hours
	_ "example.com/millrace-plugin/unixbroker"  // pubsub.brokers.unix
)
