//go:build !unix

package loadgen

// ownCPU is not known here.
func ownCPU() float64 { return 0 }
