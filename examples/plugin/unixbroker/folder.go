package unixbroker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"go.uber.org/zap"
)

// prepare makes the folder, or checks that nobody else can open it.
func prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("folder of the sockets: %w", err)
	}
	info, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("folder of the sockets: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("folder of the sockets: %s must be accessible to its owner alone (mode 0700), its mode is %04o", folder, info.Mode().Perm())
	}
	return nil
}

// listen puts the socket in its place when it takes connections: a socket that refuses
// them is one that a dead process has left.
func listen(path string) (*net.UnixListener, error) {
	hidden := path[:len(path)-len(suffix)] + ".new"
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it has another name by then
	if err := errors.Join(os.Chmod(hidden, 0o600), os.Rename(hidden, path)); err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(hidden))
	}
	return l, nil
}

const suffix = ".sock"

func (b *Broker) path(id edgeID) string { return filepath.Join(b.folder, id.String()+suffix) }

// others returns the edges that have a socket in the folder, without this one.
func (b *Broker) others() (ids []edgeID) {
	entries, err := os.ReadDir(b.folder)
	if err != nil {
		b.log.Error("the folder of the sockets cannot be read", zap.Error(err))
	}
	for _, e := range entries {
		name, isSocket := strings.CutSuffix(e.Name(), suffix)
		if id, ok := parseEdgeID(name); isSocket && ok && id != b.id {
			ids = append(ids, id)
		}
	}
	return ids
}
