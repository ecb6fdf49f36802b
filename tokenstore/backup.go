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

// A backup holds all records of a store, but not the master tokens of the
// configuration. It is UTF-8 text with one JSON object per line:
//
//	{"format":"millrace tokens","version":1,"taken_at":"2026-11-22T12:00:00Z"}
//	{"kind":"master","id":"…","record":{…}}
//	{"kind":"access","id":"…","record":{…}}
//	{"records":2,"sha256":"…"}
//
// The last line has the SHA-256 of all bytes before it. As in the store, a secret is
// there only as its SHA-256.
const (
	backupFormat  = "millrace tokens"
	backupVersion = 1
)

// BackupType is the media type of a backup.
const BackupType = "application/x-ndjson"

// ErrBadBackup is wrapped by every error about a file that is not a complete backup.
var ErrBadBackup = errors.New("this is no whole backup")

type backupHeader struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	TakenAt time.Time `json:"taken_at"`
}

type backupRecord struct {
	Kind   string          `json:"kind"`
	ID     string          `json:"id"`
	Record json.RawMessage `json:"record"`
}

type backupTrailer struct {
	Records int    `json:"records"`
	SHA256  string `json:"sha256"`
}

// BackupSummary says what a backup has.
type BackupSummary struct {
	TakenAt      time.Time `json:"taken_at"`
	MasterTokens int       `json:"master_tokens"`
	AccessTokens int       `json:"access_tokens"` // including expired ones that the store still has
}

// backupPage is how many bytes of records are read at a time (the last record may
// exceed it), so that no scan of the store waits for the writer.
const (
	backupPage   = 4 << 20
	pageOverhead = 256 // about what a record takes beside its value
)

// Backup writes all records of the store, each as it was at some moment between the
// call and its return. What it wrote before an error is not a complete backup.
func (s *Service) Backup(ctx context.Context, w io.Writer) error {
	if r, ok := s.store.(Replica); ok {
		if err := r.CatchUp(ctx); err != nil {
			return err
		}
	}
	if err := checkReadable(s.store); err != nil { // the backup would not have them
		return err
	}
	sum := sha256.New()
	lines := json.NewEncoder(io.MultiWriter(w, sum))
	lines.SetEscapeHTML(false) // records stay as they are
	if err := lines.Encode(backupHeader{backupFormat, backupVersion, s.nowSeconds()}); err != nil {
		return err
	}
	n := 0
	for _, kind := range []Kind{KindMaster, KindAccess} {
		err := s.forEachRecord(ctx, kind, func(rec Record) error {
			n++
			return lines.Encode(backupRecord{kind.String(), rec.ID, rec.Value})
		})
		if err != nil {
			return err
		}
	}
	return lines.Encode(backupTrailer{n, hex.EncodeToString(sum.Sum(nil))})
}

// forEachRecord calls fn for all records of a kind, while no scan of the store runs.
func (s *Service) forEachRecord(ctx context.Context, kind Kind, fn func(Record) error) error {
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
// if the file is not a backup, or not a complete one.
func CheckBackup(r io.Reader) (BackupSummary, error) {
	return readBackup(r, func(backedUpRecord) error { return nil })
}

// backedUpRecord is a record of a backup that was checked.
type backedUpRecord struct {
	Record
	status    string // of an access token, not counting its expiry
	expiresAt time.Time
}

// readBackup calls fn for each record, before it knows whether the rest is complete.
func readBackup(r io.Reader, fn func(backedUpRecord) error) (summary BackupSummary, err error) {
	lines := backupLines{r: bufio.NewReaderSize(r, maxBackupLine), digest: sha256.New()}
	var head backupHeader
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
		sum := lines.digest.Sum(nil)
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
			return summary, lines.errorf("is not JSON")
		}
		if entry.Records != nil {
			if *entry.Records != n || entry.SHA256 != hex.EncodeToString(sum) {
				return summary, lines.errorf("does not fit what stands before it: the file was changed")
			}
			if _, err := lines.r.Peek(1); err == nil {
				return summary, lines.errorf("is not the last one")
			}
			return summary, nil
		}
		rec, err := entry.check(head.TakenAt)
		if err != nil {
			return summary, lines.errorf(err.Error())
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

// maxBackupLine exceeds the line of a record of MaxRecord bytes: the record is JSON
// already, and is not quoted again.
const maxBackupLine = MaxRecord + 1024

// backupLines reads lines and hashes them.
type backupLines struct {
	r      *bufio.Reader
	digest hash.Hash
	number int
}

func (l *backupLines) next() ([]byte, error) {
	l.number++
	line, err := l.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, l.errorf("is too long")
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: it ends in line %d", ErrBadBackup, l.number)
	case err != nil:
		return nil, err
	}
	l.digest.Write(line)
	return line, nil
}

func (l *backupLines) errorf(why string) error {
	return fmt.Errorf("%w: line %d %s", ErrBadBackup, l.number, why)
}

// maxClockSkew is how far the clock of the edge that issued a token may be ahead of the
// clock of the edge that took the backup.
const maxClockSkew = 2 * time.Hour

// check checks what a service relies on in a record.
func (b *backupRecord) check(taken time.Time) (rec backedUpRecord, err error) {
	rec.Record = Record{ID: b.ID, Value: bytes.Clone(b.Record)}
	if !IsID(b.ID) || len(b.Record) > MaxRecord {
		return rec, errors.New("has no id of a token, or too large a record")
	}
	switch b.Kind {
	case KindMaster.String():
		rec.Kind = KindMaster
		var r masterRecord
		if err := decode(rec.Record, &r); err != nil {
			return rec, unreadable("a master token", err)
		}
		// Only as the service writes it: a prefix without its dot would cover more tenants.
		spec, err := normalizeSpec(r.MasterSpec)
		if err != nil || spec.TenantPrefix != r.TenantPrefix || !slices.Equal(spec.AllowIPMasks, r.AllowIPMasks) {
			return rec, errors.New("has a master token that breaks a rule")
		}
	case KindAccess.String():
		rec.Kind = KindAccess
		var r accessRecord
		if err := decode(rec.Record, &r); err != nil {
			return rec, unreadable("an access token", err)
		}
		a, err := compile(b.ID, 1, &r)
		if err != nil || a.IngressKBPerSec < 0 || a.EgressKBPerSec < 0 || r.ExpiresAt.After(taken.Add(MaxLifetime+maxClockSkew)) || !r.ownerIsLegal() {
			return rec, errors.New("has an access token that breaks a rule")
		}
		rec.DeleteAfter, rec.expiresAt = r.ExpiresAt.Add(KeepExpired), r.ExpiresAt
		rec.status = r.status(time.Time{})
	default:
		return rec, errors.New("has an unknown kind of record; known are master and access")
	}
	return rec, nil
}

// unreadable is why a token of a backup cannot be restored.
func unreadable(what string, err error) error {
	if errors.Is(err, ErrFormat) {
		return err
	}
	return fmt.Errorf("has %s that cannot be read", what)
}
