package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// vector is one case of a file under testdata; E holds the fields of its expect.
type vector[E any] struct {
	Comment string `json:"comment"`
	Kind    string `json:"kind"` // of names.json
	Input   input  `json:"input"`
	Expect  expect[E]
}

// expect is either an error code or fields.
type expect[E any] struct {
	Error   Code
	Ignored bool // clients ignore it, although it is an error here
	Fields  E
}

func (e *expect[E]) UnmarshalJSON(data []byte) error {
	var failed struct {
		Error   Code `json:"error"`
		Ignored bool `json:"ignored"`
	}
	if err := strict(data, &failed); err == nil && failed.Error != "" {
		e.Error, e.Ignored = failed.Error, failed.Ignored
		return nil
	}
	return strict(data, &e.Fields)
}

type input []byte

func (i *input) UnmarshalJSON(data []byte) error {
	var form struct {
		Text *string `json:"text"`
		Hex  *string `json:"hex"`
	}
	if err := strict(data, &form); err != nil {
		return err
	}
	var err error
	*i, err = inputOf(form.Text, form.Hex)
	return err
}

func inputOf(text, hexText *string) (input, error) {
	switch {
	case text != nil && hexText == nil:
		return input(*text), nil
	case hexText != nil && text == nil:
		return hex.DecodeString(*hexText)
	default:
		return nil, errors.New(`bytes are given either as "text" or as "hex"`)
	}
}

func strict(data []byte, dst any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(dst)
}

// read reads a file of vectors, and fails if it has none.
func read[E any](t testing.TB, file string) []vector[E] {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector[E]
	if err := strict(data, &vectors); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(vectors) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	for _, v := range vectors {
		if v.Comment == "" {
			t.Errorf("%s: input %q has no comment", file, v.Input)
		}
	}
	return vectors
}

// load is read for a file that must have valid and broken cases.
func load[E any](t testing.TB, file string) []vector[E] {
	t.Helper()
	vectors := read[E](t, file)
	valid, broken := 0, 0
	for _, v := range vectors {
		if v.Expect.Error == "" {
			valid++
		} else {
			broken++
		}
	}
	if valid == 0 || broken == 0 {
		t.Fatalf("%s has %d valid and %d broken cases, want some of each", file, valid, broken)
	}
	return vectors
}

// sentinels are the errors that vectors can ask for.
var sentinels = map[Code]error{
	CodeBadRequest: ErrBadRequest,
	CodeBadFrame:   ErrBadFrame,
	CodeBadTenant:  ErrBadTenant,
	CodeBadChannel: ErrBadChannel,
}

// sameError fails unless err is the sentinel of want, alone, and gives a
// reason; want "" asks for no error. It reports whether there is none.
func sameError(t *testing.T, err error, want Code) bool {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("error %v, want none", err)
		}
		return err == nil
	}
	if sentinels[want] == nil {
		t.Errorf("no sentinel has the code %q", want)
	}
	for code, sentinel := range sentinels {
		if got := errors.Is(err, sentinel); got != (code == want) {
			t.Errorf("errors.Is(%v, %v) = %v", err, sentinel, got)
		}
	}
	var typed *Error
	if errors.As(err, &typed) && typed.Reason == "" {
		t.Errorf("error %v gives no reason", err)
	}
	return false
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// noAllocs fails if f allocates.
func noAllocs(t *testing.T, what string, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(100, f); n != 0 {
		t.Errorf("%s: %v allocations a run, want 0", what, n)
	}
}

// codec is a format: how it is decoded, and encoded again.
type codec[E, T any] struct {
	file   string // of its vectors
	broken error  // of all that does not decode
	decode func([]byte) (T, error)
	fields func(T) E                                  // as the vectors have them
	again  func(t *testing.T, b []byte, decoded T)    // checks that decoded encodes to b again
	more   func(t *testing.T, v vector[E], decoded T) // checks of each vector; nil: none
}

// test checks each vector.
func (c codec[E, T]) test(t *testing.T) {
	var zero T
	for _, v := range load[E](t, c.file) {
		t.Run(v.Comment, func(t *testing.T) {
			got, err := c.decode(v.Input)
			if c.more != nil {
				c.more(t, v, got)
			}
			if !sameError(t, err, v.Expect.Error) {
				if !reflect.DeepEqual(got, zero) {
					t.Errorf("what is broken gives %+v", got)
				}
				return
			}
			if fields := c.fields(got); !reflect.DeepEqual(fields, v.Expect.Fields) {
				t.Errorf("got %+v, want %+v", fields, v.Expect.Fields)
			}
			c.again(t, v.Input, got)
		})
	}
}

// fuzz checks that whatever decodes encodes again to what it was.
func (c codec[E, T]) fuzz(f *testing.F, further ...string) {
	for _, file := range append(further, c.file) {
		for _, v := range load[E](f, file) {
			f.Add([]byte(v.Input))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := c.decode(b)
		if err == nil {
			c.again(t, b, got)
		} else if !errors.Is(err, c.broken) {
			t.Errorf("error %v", err)
		}
	})
}

// truncated checks that no beginning of b decodes.
func (c codec[E, T]) truncated(t *testing.T, b []byte) {
	t.Helper()
	for n := range len(b) {
		if _, err := c.decode(b[:n]); err == nil {
			t.Errorf("the first %d of %d bytes decode", n, len(b))
		} else {
			sameError(t, err, CodeBadFrame)
		}
	}
}
