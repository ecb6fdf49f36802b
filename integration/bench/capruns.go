package main

import (
	"context"
	"fmt"
)

// A capRow is the accuracy of one cap.
type capRow struct {
	Transport string  `json:"transport"`
	Direction string  `json:"direction"`
	Payload   int     `json:"payload_bytes"`
	KBPerSec  int     `json:"kb_per_sec"`
	Percent   float64 `json:"percent"` // measured, of the cap
	Error     string  `json:"error,omitempty"`
}

const (
	ingress = "ingress"
	egress  = "egress"

	capTolerance = 5 // %
)

var capPayloads = []int{64, 16 << 10} // bytes

// A load of capsTogether KB/s leaves the edge enough time: caps up to this sum are
// measured at the same time.
const capsTogether = 8 * 2048

// capGroups returns all caps, in groups that are measured at the same time.
func capGroups(sizes []int) (groups [][]capRow) {
	load := capsTogether
	for _, size := range sizes {
		for _, transport := range []string{overPlain, overWebTransport} {
			for _, direction := range []string{ingress, egress} {
				for _, payload := range capPayloads {
					if load += size; load > capsTogether {
						groups, load = append(groups, nil), size
					}
					row := capRow{Transport: transport, Direction: direction, Payload: payload, KBPerSec: size}
					groups[len(groups)-1] = append(groups[len(groups)-1], row)
				}
			}
		}
	}
	return groups
}

// caps measures all caps on one edge.
func (r *runner) caps(ctx context.Context) error {
	// Messages above a cap have to wait, and must not be dropped.
	e, err := r.startEdge(ctx, edgeOptions{Limits: []string{"send_queue 256MiB"}})
	if err != nil {
		return err
	}
	defer e.kill() // a stop would first read what capped publishers have sent ahead
	for _, rows := range capGroups(r.scale.CapSizes) {
		if err := r.capsAtOnce(ctx, e, rows); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) capsAtOnce(ctx context.Context, e *edge, rows []capRow) error {
	var jobs []capJob
	for i, row := range rows {
		free, err := e.reach(ctx, overPlain, tenant, 0, 0)
		if err != nil {
			return err
		}
		in, out := 0, 0
		if row.Direction == ingress {
			in = row.KBPerSec
		} else {
			out = row.KBPerSec
		}
		capped, err := e.reach(ctx, row.Transport, tenant, in, out)
		if err != nil {
			return err
		}
		jobs = append(jobs, capJob{
			Free: free, Capped: capped, Ingress: row.Direction == ingress, KBPerSec: row.KBPerSec, Payload: row.Payload,
			// A name that no earlier capped publisher used: the edge still reads what that one sent.
			Channel: fmt.Sprintf("cap%d", len(r.report.Caps)+i), Warmup: r.scale.CapWarmup, Duration: r.scale.CapTime,
		})
	}
	p, err := startLoad(r.loading, job{Caps: jobs})
	if err != nil {
		return err
	}
	defer p.kill()
	answer, err := p.answer(ctx, r.scale.CapWarmup+r.scale.CapTime)
	if err != nil {
		return err
	}
	for i, result := range answer.Caps {
		rows[i].Percent = result.BytesPerSecond / float64(rows[i].KBPerSec*kilobyte) * 100
		rows[i].Error = result.Error
		fmt.Fprintf(r.log, "cap %s\n", rows[i])
	}
	r.report.Caps = append(r.report.Caps, rows...)
	return nil
}

func (c capRow) String() string {
	where := fmt.Sprintf("%s, %s, %d-byte payloads, %d KB/s", c.Direction, c.Transport, c.Payload, c.KBPerSec)
	if c.Error != "" {
		return where + ": " + c.Error
	}
	return fmt.Sprintf("%s: %.1f %%", where, c.Percent)
}

// kept reports whether the rate was within the tolerance of the cap.
func (c capRow) kept() bool {
	return c.Error == "" && c.Percent >= 100-capTolerance && c.Percent <= 100+capTolerance
}
