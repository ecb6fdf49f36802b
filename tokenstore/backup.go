package tokenstore

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"
)

// A backup holds all records of a store, without what the configuration has. It is
// UTF-8 text of one JSON object a line:
//
//	{"format":"millrace tokens","version":1,"taken_at":"2026-11-22T12:00:00Z"}
//	{"kind":"master","id":"…","record":{…}}
//	{"kind":"access","id":"…","record":{…}}
//	{"records":2,"sha256":"…"}
//
// The last line has the SHA-256 of all bytes before it. Secrets stand there as their
// SHA-256 alone, as in the store.
const (
	backupFormat  = "millrace tokens"
	backupVersion = 1
)

// BackupType is the media type of a backup.
const BackupType = "application/x-ndjson"

// ErrBadBackup is what an error about a file that is no whole backup wraps.
var ErrBadBackup = errors.New("this is no whole backup")

type backupHead struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	TakenAt time.Time `json:"taken_at"`
}

type backupRecord struct {
	Kind   string          `json:"kind"`
	ID     string          `json:"id"`
	Record json.RawMessage `json:"record"`
}

type backupEnd struct {
	Records int    `json:"records"`
	SHA256  string `json:"sha256"`
}

// BackupSummary says what a backup has.
type BackupSummary struct {
	TakenAt      time.Time `json:"taken_at"`
	MasterTokens int       `json:"master_tokens"`
	AccessTokens int       `json:"access_tokens"` // the expired ones included that the store still has
}

// backupPage is how many bytes of records are read at a time, and one record more: no
// scan waits for the writer.
const (
	backupPage   = 4 << 20
	pageOverhead = 256 // about what a record takes beside its value
)

// Backup writes all records of the store, each as it was at some moment between the
// call and its return. What it wrote before an error is no whole backup.
func (s *Service) Backup(ctx context.Context, w io.Writer) error {
	if r, ok := s.store.(Replica); ok {
		if err := r.CatchUp(ctx); err != nil {
			return err
		}
	}
	sum := sha256.New()
	lines := json.NewEncoder(io.MultiWriter(w, sum))
	lines.SetEscapeHTML(false) // records stay as they are
	if err := lines.Encode(backupHead{backupFormat, backupVersion, s.today()}); err != nil {
		return err
	}
	n := 0
	for _, kind := range []Kind{KindMaster, KindAccess} {
		err := s.pages(ctx, kind, func(rec Record) error {
			n++
			return lines.Encode(backupRecord{kind.String(), rec.ID, rec.Value})
		})
		if err != nil {
			return err
		}
	}
	return lines.Encode(backupEnd{n, hex.EncodeToString(sum.Sum(nil))})
}

// pages calls fn for all records of a kind, outside of the store's scan.
func (s *Service) pages(ctx context.Context, kind Kind, fn func(Record) error) error {
	var page []Record
	for after := ""; ; after = page[len(page)-1].ID {
		page = page[:0]
		bytes, more := 0, false
		err := s.store.Scan(ctx, kind, after, func(rec Record) bool {
			page = append(page, rec)
			bytes += len(rec.Value) + pageOverhead
			more = bytes >= backupPage
			return !more
		})
		if err != nil {
			return err
		}
		for _, rec := range page {
			if err := fn(rec); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// CheckBackup reads a backup to its end. It returns an error that wraps [ErrBadBackup]
// if it is none, or not whole.
func CheckBackup(r io.Reader) (BackupSummary, error) {
	return readBackup(r, func(restorable) error { return nil })
}

// restorable is a record of a backup.
type restorable struct {
	Record
	status string // of an access token, but for the time
	until  time.Time
}

// readBackup calls fn for each record, before it knows whether the rest is there.
func readBackup(r io.Reader, fn func(restorable) error) (summary BackupSummary, err error) {
	lines := backupLines{r: bufio.NewReaderSize(r, maxBackupLine), sum: sha256.New()}
	var head backupHead
	line, err := lines.next()
	if err != nil {
		return summary, err
	}
	if err := json.Unmarshal(line, &head); err != nil || head.Format != backupFormat {
		return summary, fmt.Errorf("%w: its first line is not that of one", ErrBadBackup)
	}
	if head.Version != backupVersion {
		return summary, fmt.Errorf("%w that this program reads: its version is %d, and not %d", ErrBadBackup, head.Version, backupVersion)
	}
	summary.TakenAt = head.TakenAt
	for n := 0; ; n++ {
		sum := lines.sum.Sum(nil)
		line, err := lines.next()
		if err != nil {
			return summary, err
		}
		var entry struct {
			backupRecord
			Records *int   `json:"records"`
			SHA256  string `json:"sha256"`
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			return summary, lines.bad("is not JSON")
		}
		if entry.Records != nil {
			if *entry.Records != n || entry.SHA256 != hex.EncodeToString(sum) {
				return summary, lines.bad("does not fit what stands before it: the file was changed")
			}
			if _, err := lines.r.Peek(1); err == nil {
				return summary, lines.bad("is not the last one")
			}
			return summary, nil
		}
		rec, err := entry.restorable(head.TakenAt)
		if err != nil {
			return summary, lines.bad(err.Error())
		}
		if rec.Kind == KindMaster {
			summary.MasterTokens++
		} else {
			summary.AccessTokens++
		}
		if err := fn(rec); err != nil {
			return summary, err
		}
	}
}

// maxBackupLine is more than the line of a record of MaxRecord bytes: it is JSON
// already, and not quoted again.
const maxBackupLine = MaxRecord + 1024

// backupLines reads lines, and sums them up.
type backupLines struct {
	r   *bufio.Reader
	sum hash.Hash
	n   int
}

func (l *backupLines) next() ([]byte, error) {
	l.n++
	line, err := l.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, l.bad("is too long")
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: it ends in line %d", ErrBadBackup, l.n)
	case err != nil:
		return nil, err
	}
	l.sum.Write(line)
	return line, nil
}

func (l *backupLines) bad(why string) error {
	return fmt.Errorf("%w: line %d %s", ErrBadBackup, l.n, why)
}

// clocksApart is how far the clock of the edge that issued a token may be ahead of that
// of the one that took the backup.
const clocksApart = 2 * time.Hour

// restorable checks a record as far as a service relies on it.
func (b *backupRecord) restorable(taken time.Time) (rec restorable, err error) {
	rec.Record = Record{ID: b.ID, Value: bytes.Clone(b.Record)}
	if !IsID(b.ID) || len(b.Record) > MaxRecord {
		return rec, errors.New("has no id of a token, or too large a record")
	}
	switch b.Kind {
	case KindMaster.String():
		rec.Kind = KindMaster
		var r masterRecord
		if err := decode(rec.Record, &r); err != nil {
			return rec, errors.New("has a master token that cannot be read")
		}
		// As the service writes it: a prefix without its dot would reach further.
		spec, err := normalizeSpec(r.MasterSpec)
		if err != nil || spec.TenantPrefix != r.TenantPrefix || !slices.Equal(spec.AllowIPMasks, r.AllowIPMasks) {
			return rec, errors.New("has a master token that breaks a rule")
		}
	case KindAccess.String():
		rec.Kind = KindAccess
		var r accessRecord
		if err := decode(rec.Record, &r); err != nil {
			return rec, errors.New("has an access token that cannot be read")
		}
		a, err := compile(b.ID, 1, &r)
		if err != nil || a.IngressKBPerSec < 0 || a.EgressKBPerSec < 0 || r.ExpiresAt.After(taken.Add(MaxLifetime+clocksApart)) {
			return rec, errors.New("has an access token that breaks a rule")
		}
		rec.DeleteAfter, rec.until = r.ExpiresAt.Add(KeepExpired), r.ExpiresAt
		rec.status = r.status(time.Time{})
	default:
		return rec, errors.New("has an unknown kind of record; known are master and access")
	}
	return rec, nil
}
