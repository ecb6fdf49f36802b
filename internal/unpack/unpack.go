// Package unpack makes folders of the archives that tests of stored formats have in testdata.
package unpack

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TarGz makes a folder, which is removed when the test ends, of the files in an archive,
// without their folders.
func TarGz(t testing.TB, archive string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err == nil && head.Typeflag == tar.TypeReg {
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(filepath.Join(dir, filepath.Base(head.Name)), data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
