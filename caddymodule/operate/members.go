package operate

import (
	"context"
	"errors"
	"net/http"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/tokenstore/rest"
)

func init() { Calls["POST /members/{member}/remove"] = Call{"member_remove", removeMember} }

// memberRemoved answers the call that removes a member of the cluster of the NATS servers
// inside edges. Like [disconnected], it is carried out also if its caller goes away.
type memberRemoved struct{ app.Removal }

func removeMember(live *app.Running, r *http.Request, body []byte) (any, error) {
	var given app.RemoveOptions
	if err := rest.DecodeStrict(body, &given); err != nil {
		return nil, err
	}
	removal, err := live.RemoveMember(context.WithoutCancel(r.Context()), r.PathValue("member"), given)
	return memberRemoved{removal}, err
}

// memberProblem is the answer for an error about members; false: it is another error.
func memberProblem(err error) (p rest.Problem, ok bool) {
	var refused *app.MemberError
	if ok = errors.As(err, &refused); ok {
		p = rest.Problem{Status: refused.Status(), Code: refused.Code, Detail: refused.Text}
	}
	return p, ok
}
