package badger

import (
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"
)

// logger passes Badger's warnings and errors on. Its information about
// compactions and files is dropped. Badger writes no values into its messages,
// and a key holds an id, never a secret.
type logger struct{ to *zap.Logger }

func newLogger(to *zap.Logger) badger.Logger {
	if to == nil {
		to = zap.NewNop()
	}
	return logger{to}
}

func (l logger) Errorf(format string, args ...any)   { l.to.Error(text(format, args)) }
func (l logger) Warningf(format string, args ...any) { l.to.Warn(text(format, args)) }
func (logger) Infof(string, ...any)                  {}
func (logger) Debugf(string, ...any)                 {}

func text(format string, args []any) string {
	return "token store: " + strings.TrimSpace(fmt.Sprintf(format, args...))
}

var _ badger.Logger = logger{}
