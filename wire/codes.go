package wire

// Code is the word after ERR: in a server line.
type Code string

// The codes. [Codes] says what each means and what follows.
const (
	CodeBadRequest           Code = "bad_request"
	CodeBadFrame             Code = "bad_frame"
	CodeBadTenant            Code = "bad_tenant"
	CodeBadChannel           Code = "bad_channel"
	CodeBadPattern           Code = "bad_pattern"
	CodePermissionDenied     Code = "permission_denied"
	CodePayloadTooLarge      Code = "payload_too_large"
	CodeTooManySubscriptions Code = "too_many_subscriptions"
	CodeTooManyPatterns      Code = "too_many_patterns"
	CodeSlowConsumer         Code = "slow_consumer"   // ERR:slow_consumer:<n>
	CodeEgressLimited        Code = "egress_limited"  // ERR:egress_limited:<seconds>
	CodeIngressLimited       Code = "ingress_limited" // ERR:ingress_limited:<seconds>
	CodeBrokerUnavailable    Code = "broker_unavailable"
	CodeTryLater             Code = "try_later"
	CodeNoHistory            Code = "no_history"
	CodeTooManyChannels      Code = "too_many_channels"
	CodeHistoryUnavailable   Code = "history_unavailable"
	CodeUnconfirmed          Code = "unconfirmed"
	CodeNoSubscriber         Code = "no_subscriber"
	CodeSubscribersBusy      Code = "subscribers_busy"
	CodeNoPresence           Code = "no_presence"
	CodeNoSubject            Code = "no_subject"
	CodeTooManyMembers       Code = "too_many_members"
	CodeUnauthorized         Code = "unauthorized"
	CodeForbidden            Code = "forbidden" // ERR:forbidden:<what>
	CodeTokenExpired         Code = "token_expired"
	CodeTokenRevoked         Code = "token_revoked"
	CodeTokenUnverifiable    Code = "token_unverifiable"
	CodeClosedByOperator     Code = "closed_by_operator"
	CodeInternal             Code = "internal"
)

// CloseCode is the number with which a connection is closed: a WebSocket close
// code, and the same number wherever else the protocol runs.
type CloseCode uint16

// The close codes. [CloseCodes] says what each means.
const (
	CloseNormal       CloseCode = 1000
	CloseGoingAway    CloseCode = 1001
	CloseInvalidUTF8  CloseCode = 1007
	ClosePolicy       CloseCode = 1008
	CloseTooBig       CloseCode = 1009
	CloseInternal     CloseCode = 1011
	CloseTryLater     CloseCode = 1013
	CloseUnauthorized CloseCode = 4401
	CloseForbidden    CloseCode = 4403
	CloseSlowConsumer CloseCode = 4429
)

// CodeInfo is one row of [Codes].
type CodeInfo struct {
	Code     Code
	Argument string    // what always follows the code and a colon; empty: at most the refused command
	Meaning  string    // one phrase of Markdown
	Close    CloseCode // the close that follows the line; 0: the connection goes on
	MayClose CloseCode // with Close 0: the close that follows in the case that Meaning names; 0: none
}

// Codes is the one table of codes; docs/protocol.md, Codes, shows it. Read-only.
var Codes = []CodeInfo{
	{Code: CodeBadRequest, Meaning: "the line is not understood; the 16th broken message in a row closes", MayClose: ClosePolicy},
	{Code: CodeBadFrame, Meaning: "the frame is not understood; likewise", MayClose: ClosePolicy},
	{Code: CodeBadTenant, Meaning: "no legal name"},
	{Code: CodeBadChannel, Meaning: "no legal name"},
	{Code: CodeBadPattern, Meaning: "no legal pattern"},
	{Code: CodePermissionDenied, Meaning: "no grant of the token allows it, or a hook refuses it"},
	{Code: CodePayloadTooLarge, Meaning: "over `max_payload`"},
	{Code: CodeTooManySubscriptions, Meaning: "over a limit of the connection"},
	{Code: CodeTooManyPatterns, Meaning: "over a limit of the connection, its token, tenant, issuer, or the edge"},
	{Code: CodeSlowConsumer, Argument: "<n>", Meaning: "n deliveries were dropped since the last such line; closes with the policy `disconnect`, or if the client reads nothing", MayClose: CloseSlowConsumer},
	{Code: CodeEgressLimited, Argument: "<seconds>", Meaning: "the oldest delivery has waited that long for a cap of the connection, token or tenant; at most once a minute"},
	{Code: CodeIngressLimited, Argument: "<seconds>", Meaning: "with the feature `reasons`: likewise what the client publishes"},
	{Code: CodeBrokerUnavailable, Meaning: "the link to other edges is down, or takes less than is published to the tenant; local delivery goes on"},
	{Code: CodeTryLater, Meaning: "a hook does not answer, says so, or is asked too much; or there are too many keys"},
	{Code: CodeNoHistory, Meaning: "no history contains the pattern of the RSUB, or keeps the channel of the publish with a key"},
	{Code: CodeTooManyChannels, Meaning: "`last` matches more than 1,024 channels"},
	{Code: CodeHistoryUnavailable, Meaning: "the store is out of reach: an RSUB waits for it; a publish was not stored, and nobody gets it"},
	{Code: CodeUnconfirmed, Meaning: "whether the publish was stored or taken is unknown; it may still come"},
	{Code: CodeNoSubscriber, Meaning: "with the feature `work_queue`: no connection has a subscription that matches; nobody gets the message"},
	{Code: CodeSubscribersBusy, Meaning: "likewise: none of those that have one has credit and room"},
	{Code: CodeNoPresence, Meaning: "no presence contains the channel of the JOIN, or the pattern of the WHO"},
	{Code: CodeNoSubject, Meaning: "a JOIN needs a token with a subject"},
	{Code: CodeTooManyMembers, Meaning: "over a limit of the tenant, the subject, the issuer or the edge"},
	{Code: CodeUnauthorized, Meaning: "WebTransport: the token is missing or not valid; with its secret, perhaps `:expired` or `:revoked`", Close: CloseUnauthorized},
	{Code: CodeForbidden, Argument: "<what>", Meaning: "WebTransport: the token does not allow this `ip`, `origin`, `region` or `protocol`; or a hook refuses the `client`, with `:` and the reason", Close: CloseForbidden},
	{Code: CodeTokenExpired, Meaning: "the token has expired", Close: CloseUnauthorized},
	{Code: CodeTokenRevoked, Meaning: "the token was revoked", Close: CloseForbidden},
	{Code: CodeTokenUnverifiable, Meaning: "the shared token store was out of reach for `max_stale`, or cannot say whether the token was revoked", Close: CloseTryLater},
	{Code: CodeClosedByOperator, Meaning: "by an operator; connect again while the token is valid", Close: CloseTryLater},
	{Code: CodeInternal, Meaning: "a fault of the server", Close: CloseInternal},
}

// Info returns the row of c in [Codes], and whether there is one.
func (c Code) Info() (CodeInfo, bool) {
	for _, info := range Codes {
		if info.Code == c {
			return info, true
		}
	}
	return CodeInfo{}, false
}

// CloseInfo is one row of [CloseCodes].
type CloseInfo struct {
	Close   CloseCode
	Meaning string // one phrase of Markdown
}

// CloseCodes is the one table of close codes; docs/protocol.md, Codes, shows it.
// Read-only.
var CloseCodes = []CloseInfo{
	{CloseNormal, "the client is done"},
	{CloseGoingAway, "the edge stops, or the client was silent for too long"},
	{CloseInvalidUTF8, "a text message is not UTF-8"},
	{ClosePolicy, "16 broken messages in a row"},
	{CloseTooBig, "a message is over the read limit"},
	{CloseInternal, "a fault of the server"},
	{CloseTryLater, "this edge cannot serve the connection now; try another or later"},
	{CloseUnauthorized, "the token is not valid, or no longer"},
	{CloseForbidden, "the token was revoked, or does not allow this connection"},
	{CloseSlowConsumer, "the client reads too slowly, and the policy is `disconnect`, or it reads nothing"},
}
