// Package handler has the HTTP handlers of the edge: what clients, probes and operators
// reach at a path of a site. They share the admission of clients, the comparison of
// paths, and the app, which they wait for and whose silence they answer with 503.
package handler
