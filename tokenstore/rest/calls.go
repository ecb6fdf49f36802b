package rest

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

type (
	service = tokenstore.Service
	master  = tokenstore.Master
)

// An IssueAnswer is the JSON body that answers POST /v1/get-token. Token is the
// secret: it belongs in no log.
type IssueAnswer struct {
	Token     string    `json:"token"`
	TokenID   string    `json:"token_id"`
	ExpiresAt time.Time `json:"expires_at"` // by the clock of the edge: UTC, whole seconds
	ExpiresIn int64     `json:"expires_in"` // the seconds until then
	// Tenants are the physical names of the tenants that the token grants, each
	// once, in the order of its right. The caller is not told.
	Tenants []string `json:"-"`
	Subject string   `json:"-"` // of the token; the caller has sent it
}

// Issue is the call POST /v1/get-token, for other front ends too: it takes that
// call's body and returns the answer.
func Issue(ctx context.Context, s *service, m *master, body []byte) (IssueAnswer, error) {
	var request tokenstore.IssueRequest
	if err := decodeInTurn(ctx, s, m, body, &request); err != nil {
		return IssueAnswer{}, err
	}
	issued, err := s.Issue(ctx, m, request)
	return Answer(issued), err
}

// Answer is what answers the call that issued a token.
func Answer(t tokenstore.Issued) IssueAnswer {
	return IssueAnswer{t.Token, t.TokenID, t.ExpiresAt, t.ExpiresIn, t.Tenants, t.Subject}
}

// freeBody is how many bytes of a body are read without a turn.
const freeBody = 4 << 10

// decodeInTurn is DecodeStrict, which takes some milliseconds for the largest bodies, when it is m's turn.
func decodeInTurn(ctx context.Context, s *service, m *master, body []byte, into any) error {
	if len(body) > freeBody {
		leave, err := s.TakeTurn(ctx, m)
		if err != nil {
			return err
		}
		defer leave()
	}
	return DecodeStrict(body, into)
}

// issueToken is POST /v1/get-token.
func issueToken(ctx context.Context, s *service, m *master, body []byte, op *Operation) (any, error) {
	answer, err := Issue(ctx, s, m, body)
	if err != nil {
		return nil, err
	}
	op.TokenID, op.Tenants, op.ExpiresAt, op.Subject = answer.TokenID, answer.Tenants, answer.ExpiresAt, answer.Subject
	return answer, nil
}

// refreshToken is PUT /v1/refresh-token.
func refreshToken(ctx context.Context, s *service, m *master, body []byte, op *Operation) (any, error) {
	var request struct {
		TokenID   string `json:"token_id"`
		ExpiresAt string `json:"expires_at"`
		ExpiresIn *int64 `json:"expires_in"`
	}
	if err := DecodeStrict(body, &request); err != nil {
		return nil, err
	}
	if tokenstore.IsID(request.TokenID) { // anything else may be a secret
		op.TokenID = request.TokenID
	}
	life, err := s.Refresh(ctx, m, request.TokenID, tokenstore.Expiry{At: request.ExpiresAt, In: request.ExpiresIn})
	if err != nil {
		return nil, err
	}
	op.ExpiresAt = life.ExpiresAt
	return struct {
		Message      string `json:"message"`
		TokenID      string `json:"token_id"`
		NewExpiresAt string `json:"new_expires_at"`
		ExpiresIn    int64  `json:"expires_in"`
	}{"token refreshed", request.TokenID, timestamp(life.ExpiresAt), life.ExpiresIn}, nil
}

// revokeToken is DELETE /v1/revoke-token.
func revokeToken(ctx context.Context, s *service, m *master, body []byte, op *Operation) (any, error) {
	var request struct {
		Token string `json:"token"`
	}
	if err := DecodeStrict(body, &request); err != nil {
		return nil, err
	}
	id, err := s.Revoke(ctx, m, request.Token)
	op.TokenID = id
	if err != nil {
		return nil, err
	}
	return tokenRevoked{"token revoked", id}, nil
}

type tokenRevoked struct {
	Message string `json:"message"`
	TokenID string `json:"token_id"`
}

// revokeTokenByID is DELETE /v1/tokens/{token_id}. Its input is the id.
func revokeTokenByID(ctx context.Context, s *service, m *master, id []byte, op *Operation) (any, error) {
	if tokenstore.IsID(string(id)) { // anything else may be a secret
		op.TokenID = string(id)
	}
	if err := s.RevokeByID(ctx, m, string(id)); err != nil {
		return nil, err
	}
	return tokenRevoked{"token revoked", string(id)}, nil
}

// revokeSubject is DELETE /v1/tokens.
func revokeSubject(ctx context.Context, s *service, m *master, subject []byte, op *Operation) (any, error) {
	answer, err := RevokeSubject(ctx, s, m, string(subject))
	op.Subject, op.Revoked = answer.Subject, answer.Revoked
	if err != nil {
		answer.Reopen()
		return nil, err
	}
	return answer, nil
}

// SubjectRevoked is the JSON body that answers DELETE /v1/tokens.
type SubjectRevoked struct {
	Message string `json:"message"`
	Revoked int    `json:"revoked"` // valid tokens that the call revoked
	Subject string `json:"subject"` // as the edge has read it; empty: the call had none

	reopen func() // nil: the subject was not closed
}

// Reopen lets tokens of the subject be issued again. It is called once, when the answer or
// the refusal is on its way.
func (r SubjectRevoked) Reopen() {
	if r.reopen != nil {
		r.reopen()
	}
}

// RevokeSubject is the call DELETE /v1/tokens, for other front ends too: it takes that call's
// subject, see [SubjectOf], and returns the answer, whose Reopen is to be called, also with an
// error: then it says what was done before.
func RevokeSubject(ctx context.Context, s *service, m *master, subject string) (answer SubjectRevoked, err error) {
	answer = SubjectRevoked{Message: "tokens revoked", Subject: subject}
	answer.Revoked, answer.reopen, err = s.RevokeAndClose(ctx, m, subject)
	var refused *tokenstore.InvalidError
	if errors.As(err, &refused) {
		answer.Subject = "" // it is invalid
	}
	return answer, err
}

// SubjectOf returns the subject of DELETE /v1/tokens, from its raw query or a JSON body. Some
// clients send a body with each request: beside a query it may be anything but one that names
// another subject.
func SubjectOf(rawQuery string, body []byte) (string, error) {
	if strings.ContainsFunc(rawQuery, ambiguous) {
		return "", invalid("query", "must be percent-encoded, in UTF-8: a space is %20, and a plus, which may mean either, %2B")
	}
	values, err := Parameters(rawQuery, "subject")
	if err != nil {
		return "", err
	}
	var given struct {
		Subject string `json:"subject" empty:"refused"`
	}
	switch subject := values["subject"]; {
	case subject != "":
		if json.Unmarshal(body, &given) == nil && given.Subject != "" && given.Subject != subject {
			return "", invalid("subject", "is another one in the body than in the query; give one of them")
		}
		return subject, nil
	case len(body) > 0:
		if err := DecodeStrict(body, &given); err != nil {
			return "", err
		}
	}
	if given.Subject == "" {
		return "", invalid("subject", "is missing: give it in the query, percent-encoded, or in a JSON body")
	}
	return given.Subject, nil
}

// ambiguous reports whether a character of a query leaves open what was meant: a plus, which
// forms write for a space, and what no URL has. It matters where tokens end for good.
func ambiguous(c rune) bool { return c == '+' || c <= ' ' || c >= 0x7f }

// listTokens is GET /v1/tokens.
func listTokens(ctx context.Context, s *service, m *master, query []byte, _ *Operation) (any, error) {
	written, err := s.AdmitPage(ctx, m)
	if err != nil {
		return nil, err
	}
	page, err := list(ctx, s, m, query, []string{"limit", "cursor", "tenant", "subject"})
	if err != nil {
		written()
		return nil, err
	}
	page.written = written
	return page, nil
}

// ListAll is the call GET /v1/tokens for operators, who manage all tokens and can also search
// for those of an id, a created_by and a status, as [tokenstore.ListOptions] has them.
func ListAll(ctx context.Context, s *service, query []byte) (TokenPage, error) {
	return list(ctx, s, s.Overlay(), query, []string{"limit", "cursor", "tenant", "subject", "id", "created_by", "status"})
}

func list(ctx context.Context, s *service, m *master, query []byte, allowed []string) (page TokenPage, err error) {
	options, err := listOptions(string(query), allowed)
	if err != nil {
		return page, err
	}
	page.Tokens, page.NextCursor, err = s.List(ctx, m, options)
	return page, err
}

func listOptions(rawQuery string, allowed []string) (o tokenstore.ListOptions, err error) {
	o.Limit = tokenstore.DefaultListLimit
	values, err := Parameters(rawQuery, allowed...)
	if err != nil {
		return o, err
	}
	o.Cursor, o.Tenant, o.Subject = values["cursor"], values["tenant"], values["subject"]
	o.ID, o.CreatedBy, o.Status = values["id"], values["created_by"], values["status"]
	if limit, given := values["limit"]; given {
		o.Limit, err = strconv.Atoi(limit)
		canonical := strconv.Itoa(o.Limit) == limit // no sign, no leading zero
		if err != nil || !canonical || o.Limit < 1 || o.Limit > tokenstore.MaxListLimit {
			return o, invalid("limit", "must be an integer from 1 to "+strconv.Itoa(tokenstore.MaxListLimit))
		}
	}
	return o, nil
}

// timestamp writes a time as every answer does: RFC 3339 in UTC, whole seconds.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
