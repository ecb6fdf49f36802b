// Package programs tests what people start: examples, the README, packages, commands.
package programs
