package wire

import (
	"errors"
	"fmt"
	"testing"
)

func TestError(t *testing.T) {
	err := fmt.Errorf("session: %w", errFrameTag)
	var typed *Error
	if !errors.As(err, &typed) || typed.Code != CodeBadFrame || typed.Reason == "" {
		t.Errorf("got %+v", typed)
	}
	if !errors.Is(err, ErrBadFrame) || errors.Is(err, ErrBadRequest) {
		t.Errorf("%v is not ErrBadFrame alone", err)
	}
	if errors.Is(ErrBadFrame, errFrameTag) || errors.Is(errFrameShort, errFrameTag) {
		t.Error("only a sentinel stands for its whole code")
	}
	if got, want := errLineEmpty.Error(), "bad_request: the line is empty"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := ErrBadTenant.Error(); got != "bad_tenant" {
		t.Errorf("got %q", got)
	}
}
