// Package load tests edges below crowds, attackers and long use; most of it is for soaks.
package load
