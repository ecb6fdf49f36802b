package command

import (
	"bufio"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// tokenVariable holds the access token of the commands that use one.
const tokenVariable = "MILLRACE_TOKEN"

var (
	// secret matches a token with its secret, but not the hash form.
	secret = regexp.MustCompile(`(?i)(AT|MT)_[0-9a-f]+_[0-9a-f]+`)

	accessToken = regexp.MustCompile(`^AT_([0-9a-f]{32})_[0-9a-f]{32}$`)

	errSecretArgument = usageError{errors.New("a token must not be an argument, since other users of this machine can see those: " +
		"give it in $" + tokenVariable + " or as the first line of stdin, and consider revoking this one")}
)

func checkNoSecret(args []string) error {
	for _, arg := range args {
		if secret.MatchString(arg) {
			return errSecretArgument
		}
	}
	return nil
}

// text is a flag's value that must not be a secret.
type text string

func (t *text) String() string { return string(*t) }
func (t *text) Type() string   { return "string" }

func (t *text) Set(s string) error {
	*t = text(s)
	return checkNoSecret([]string{s})
}

// mayBeEmpty annotates flags that accept an empty value.
const mayBeEmpty = "may-be-empty"

// checkEmpty refuses flags with an empty value: they are not like flags that are left out.
// A script has probably lost the value, as with --subject "$USER_ID", and would list or
// issue something else than it says.
func checkEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value, is := f.Value.(*text)
		if _, allowed := f.Annotations[mayBeEmpty]; is && *value == "" && !allowed && err == nil {
			err = usagef("--%s: is empty; omit it instead", f.Name)
		}
	})
	return err
}

// allowEmpty lets flags have an empty value.
func allowEmpty(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		_ = cmd.Flags().SetAnnotation(name, mayBeEmpty, nil) // it fails only for an unknown flag
	}
}

// texts is a flag that can be repeated.
type texts []string

func (t *texts) String() string { return strings.Join(*t, ", ") }
func (t *texts) Type() string   { return "string" }

func (t *texts) Set(s string) error {
	*t = append(*t, s)
	return checkNoSecret([]string{s})
}

// readToken returns the access token of the environment, or else the first line of stdin
// if that is not a terminal.
func readToken(cmd *cobra.Command) (string, error) {
	token := os.Getenv(tokenVariable)
	if token == "" {
		in := cmd.InOrStdin()
		if isTerminal(in) {
			return "", usagef("an access token is required: give it in $%s or as the first line of stdin", tokenVariable)
		}
		line, err := bufio.NewReader(io.LimitReader(in, 1024)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		token = line
	}
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return "", usagef("an access token is required: give it in $%s or as the first line of stdin", tokenVariable)
	case !accessToken.MatchString(token):
		return "", usagef("$%s or stdin does not hold an access token: AT_, 32 hex digits, _, 32 more", tokenVariable)
	}
	return token, nil
}

// readSubject is readToken for a command about the token itself: it takes none from the environment
// where a file is given, too, since the wrong one may be revoked.
func readSubject(cmd *cobra.Command) (string, error) {
	if os.Getenv(tokenVariable) != "" && isFile(cmd.InOrStdin()) {
		return "", usagef("a token is in $%s, and stdin is a file: unset the variable, or leave the file out", tokenVariable)
	}
	return readToken(cmd)
}

// isFile reports whether somebody has given a file as stdin, which has something in it.
func isFile(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
