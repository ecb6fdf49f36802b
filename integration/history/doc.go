// Package history plays random publishers and subscribers of a history, and checks what they see.
package history
