package console

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"
	"golang.org/x/crypto/bcrypt"
)

// Role is what an operator may do.
type Role string

// The roles. A manager may do all that a viewer may.
const (
	Viewer  Role = "viewer"  // sees everything but secrets, which nobody sees twice
	Manager Role = "manager" // changes tokens, connections and edges, too
)

// Operator is somebody who may use the console.
type Operator struct {
	// Name, 1 to 64 of the characters a-z A-Z 0-9 _ - . @. With auth caddy, the user
	// that Caddy's authentication finds.
	Name string `json:"name"`
	// Hash of the password, as `millrace hash-password` prints it: bcrypt of a cost from
	// 10 to 16, or argon2id of 7 MiB to 1 GiB. With auth caddy: none.
	Hash string `json:"hash,omitempty"`
	// Role is `viewer` or `manager`.
	Role Role `json:"role"`
}

// maxOperators bounds the operators of a console.
const maxOperators = 1000

// MaxPassword is how many bytes a password may have; bcrypt looks at the first 72.
const MaxPassword = 1024

// operators are those of a configuration, which does not change.
type operators struct {
	byName  map[string]operator
	classes []hashClass // of all hashes, each once
}

type operator struct {
	role  Role
	hash  string
	class int      // in operators.classes
	print [32]byte // of name, hash and what authenticates: a session ends when it changes
}

// hashClass is an algorithm with its parameters, and so an amount of work.
type hashClass struct {
	params   string
	comparer caddyauth.Comparer
	example  string // any hash of the class
}

// newOperators checks and compiles a list; by is what authenticates.
func newOperators(list []Operator, by string) (*operators, error) {
	if len(list) == 0 {
		return nil, errors.New("nobody may use this console: name operators, `operator <name> <hash> viewer|manager`; `millrace hash-password` makes a hash")
	}
	if len(list) > maxOperators {
		return nil, fmt.Errorf("%d operators; allowed: %d", len(list), maxOperators)
	}
	o := &operators{byName: map[string]operator{}}
	for _, given := range list {
		if err := o.add(given, by); err != nil {
			return nil, fmt.Errorf("operator %s: %w", shownName(given.Name), err)
		}
	}
	return o, nil
}

func (o *operators) add(given Operator, by string) error {
	if !legalName(given.Name) {
		return errors.New("a name has 1 to 64 of the characters a-z A-Z 0-9 _ - . @")
	}
	if _, twice := o.byName[given.Name]; twice {
		return errors.New("is given twice")
	}
	if given.Role != Viewer && given.Role != Manager {
		return errors.New("the role must be viewer or manager")
	}
	op := operator{role: given.Role, hash: given.Hash, print: sha256.Sum256([]byte(by + "\n" + given.Name + "\n" + given.Hash))}
	switch {
	case by == authCaddy && given.Hash != "":
		return errors.New("with auth caddy an operator has no hash: `operator <user> viewer|manager`")
	case by == authOperators:
		class, err := classOf(given.Hash)
		if err != nil {
			return err
		}
		if op.class = slices.IndexFunc(o.classes, func(c hashClass) bool { return c.params == class.params }); op.class < 0 {
			op.class = len(o.classes)
			o.classes = append(o.classes, class)
		}
	}
	o.byName[given.Name] = op
	return nil
}

// errHash does not repeat the hash: what stands in its place may be a password.
var errHash = errors.New("the hash must be what `millrace hash-password` prints: bcrypt of a cost from 10 to 16, " +
	"or argon2id of 7168 to 1048576 KiB, 1 to 64 iterations and 1 to 16 threads")

// classOf reads the parameters of a hash, and refuses those that are too weak, or so strong
// that a login would hold up the edge.
func classOf(hash string) (hashClass, error) {
	if cost, err := bcrypt.Cost([]byte(hash)); err == nil {
		if cost < 10 || cost > 16 || len(hash) != 60 {
			return hashClass{}, errHash
		}
		return hashClass{fmt.Sprintf("bcrypt %d", cost), caddyauth.BcryptHash{}, hash}, nil
	}
	parts := strings.Split(hash, "$")
	var memory, time, threads int
	if _, _, err := caddyauth.DecodeHash([]byte(hash)); err != nil || len(parts) != 6 {
		return hashClass{}, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); err != nil {
		return hashClass{}, errHash
	}
	if memory < 7168 || memory > 1<<20 || time < 1 || time > 64 || threads < 1 || threads > 16 || len(parts[5]) < 22 {
		return hashClass{}, errHash
	}
	return hashClass{parts[3] + fmt.Sprint(" ", len(parts[5])), caddyauth.Argon2idHash{}, hash}, nil
}

// check reports whether a password is that of an operator. It takes as long for a name that
// nobody has: each class of hashes is computed once, whoever is meant.
func (o *operators) check(name, password string) bool {
	op, known := o.byName[name]
	right := false
	for i, class := range o.classes {
		hash, decides := class.example, false
		if known && op.class == i {
			hash, decides = op.hash, true
		}
		if same, err := class.comparer.Compare([]byte(hash), []byte(password)); decides {
			right = same && err == nil
		}
	}
	return right
}

func legalName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.', c == '@':
		default:
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// shownName is a name for an error: an invalid name may be a secret in the wrong place.
func shownName(name string) string {
	if legalName(name) {
		return name
	}
	return "(not shown)"
}
