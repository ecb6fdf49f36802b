package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// swaps are the operators that stand for each other.
var swaps = map[token.Token]struct{ operator, other string }{
	token.LSS: {"compare", "<="}, token.LEQ: {"compare", "<"},
	token.GTR: {"compare", ">="}, token.GEQ: {"compare", ">"},
	token.EQL: {"compare", "!="}, token.NEQ: {"compare", "=="},
	token.LAND: {"logic", "||"}, token.LOR: {"logic", "&&"},
	token.ADD: {"arithmetic", "-"}, token.SUB: {"arithmetic", "+"},
	token.ADD_ASSIGN: {"arithmetic", "-="}, token.SUB_ASSIGN: {"arithmetic", "+="},
	token.INC: {"arithmetic", "--"}, token.DEC: {"arithmetic", "++"},
}

// Functions and calls for people alone, whose texts no test needs to pin.
var (
	texts   = []string{"String", "GoString", "Error", "MarshalLogObject", "Describe", "CaddyModule", "main", "init"}
	logs    = []string{"Debug", "Info", "Warn", "Error", "Log", "Check", "Lock", "Unlock", "RLock", "RUnlock"}
	loggers = []string{"zap", "slog", "log", "prometheus"}
)

// file is a parsed file.
type file struct {
	name  string
	src   []byte
	set   *token.FileSet
	ast   *ast.File
	funcs []*ast.FuncDecl
}

func parse(dir, name string) (*file, error) {
	src, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	f := &file{name: name, src: src, set: token.NewFileSet()}
	if f.ast, err = parser.ParseFile(f.set, name, src, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			f.funcs = append(f.funcs, fn)
		}
	}
	return f, nil
}

func (f *file) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *file) text(n ast.Node) string {
	return string(f.src[f.offset(n.Pos()):f.offset(n.End())])
}

// funcName is a function's name with that of its receiver's type.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.ParenExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// candidatesIn returns how many lines a package has, and every mutant that could be made of it.
func candidatesIn(dir, folder string) (lines int, all []mutant, err error) {
	names, err := sources(dir, folder)
	if err != nil {
		return 0, nil, err
	}
	for _, name := range names {
		f, err := parse(dir, name)
		if err != nil {
			return 0, nil, err
		}
		lines += bytes.Count(f.src, []byte("\n"))
		for _, fn := range f.funcs {
			if !slices.Contains(texts, fn.Name.Name) {
				c := collector{file: f, fn: fn}
				ast.Inspect(fn.Body, c.visit)
				all = append(all, c.found...)
			}
		}
	}
	return lines, all, nil
}

// collector collects the mutants of a function.
type collector struct {
	*file
	fn    *ast.FuncDecl
	found []mutant
}

// add adds the mutant that has other where the source has the bytes from pos to end.
func (c *collector) add(operator string, pos, end token.Pos, other string) {
	from, to := c.offset(pos), c.offset(end)
	start := 1 + bytes.LastIndexByte(c.src[:from], '\n')
	line := lineAt(c.src, start)
	nth := 0
	eachLine(c.src, c.offset(c.fn.Pos()), start+1, func(_ int, text string) {
		if text == line {
			nth++
		}
	})
	indent := len(c.src[start:from]) - len(bytes.TrimLeft(c.src[start:from], "\t "))
	c.found = append(c.found, mutant{
		File: c.name, Func: funcName(c.fn), Line: line, Nth: nth, Column: from - start - indent,
		Operator: operator, Old: string(c.src[from:to]), New: other,
	})
}

// lineAt is the line that starts there, without indentation.
func lineAt(src []byte, start int) string {
	line, _, _ := bytes.Cut(src[start:], []byte("\n"))
	return strings.TrimSpace(string(line))
}

// eachLine calls f with the start and the text of the lines from a position to another.
func eachLine(src []byte, from, to int, f func(start int, text string)) {
	for start := 1 + bytes.LastIndexByte(src[:from], '\n'); start < to; {
		f(start, lineAt(src, start))
		next := bytes.IndexByte(src[start:], '\n')
		if next < 0 {
			return
		}
		start += next + 1
	}
}

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if forPeople(n) {
			return false
		}
	case *ast.IfStmt:
		if assign, ok := n.Init.(*ast.AssignStmt); ok {
			if call, ok := assign.Rhs[0].(*ast.CallExpr); ok && forPeople(call) {
				return false // if entry := logger.Check(…); entry != nil
			}
		}
		c.add("negate", n.Cond.Pos(), n.Cond.End(), "!("+c.text(n.Cond)+")")
	case *ast.BinaryExpr:
		c.swap(n.Op, n.OpPos)
	case *ast.IncDecStmt:
		c.swap(n.Tok, n.TokPos)
	case *ast.AssignStmt:
		c.swap(n.Tok, n.TokPos)
		if n.Tok != token.DEFINE && c.text(n.Lhs[0]) != "_" {
			c.add("delete", n.Pos(), n.End(), "")
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !forPeople(call) {
			c.add("delete", n.Pos(), n.End(), "")
		}
	case *ast.BranchStmt:
		if n.Label == nil && (n.Tok == token.CONTINUE || n.Tok == token.BREAK) {
			c.add("jump", n.Pos(), n.End(), "")
		}
	case *ast.ReturnStmt:
		c.noError(n)
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 0, 32); n.Kind == token.INT && err == nil {
			c.add("constant", n.Pos(), n.End(), strconv.FormatInt(v+1, 10))
		}
	case *ast.Ident:
		if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
			c.add("value", n.Pos(), n.End(), other)
		}
	}
	return true
}

func (c *collector) swap(t token.Token, pos token.Pos) {
	if s, ok := swaps[t]; ok {
		c.add(s.operator, pos, pos+token.Pos(len(t.String())), s.other)
	}
}

// noError returns nil where the source returns an error as the last value.
func (c *collector) noError(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	text := c.text(last)
	for _, sign := range []string{"err", "Err", "errors.New(", "fmt.Errorf("} {
		if strings.HasPrefix(text, sign) {
			c.add("no error", last.Pos(), last.End(), "nil")
			return
		}
	}
}

// forPeople reports calls whose effect is a line of a log, the text of a metric, or a lock:
// without the latter, a test hangs or nothing is seen.
func forPeople(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, _ := method.X.(*ast.Ident)
	return slices.Contains(logs, method.Sel.Name) || of != nil && slices.Contains(loggers, of.Name)
}
