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
	{Code: CodeBadFrame, Meaning: "the frame is not understood; the 16th broken message in a row closes", MayClose: ClosePolicy},
	{Code: CodeBadTenant, Meaning: "the tenant is not a legal name"},
	{Code: CodeBadChannel, Meaning: "the channel is not a legal name"},
	{Code: CodeBadPattern, Meaning: "the pattern is not legal"},
	{Code: CodePermissionDenied, Meaning: "no grant of the token allows it, or a hook of the edge refuses it"},
	{Code: CodePayloadTooLarge, Meaning: "the payload is over `max_payload`"},
	{Code: CodeTooManySubscriptions, Meaning: "one subscription more would be over a limit of the connection"},
	{Code: CodeTooManyPatterns, Meaning: "the pattern would be over a limit of the patterns of the connection, its token, its tenant, its issuer or the edge"},
	{Code: CodeSlowConsumer, Argument: "<n>", Meaning: "n deliveries were dropped for this connection since the last such line; with the policy `disconnect`, or if the client reads nothing, it closes", MayClose: CloseSlowConsumer},
	{Code: CodeEgressLimited, Argument: "<seconds>", Meaning: "the oldest delivery has waited so many seconds for an egress cap, that of the connection, its token or the tenant; at most once a minute"},
	{Code: CodeIngressLimited, Argument: "<seconds>", Meaning: "with the feature `reasons`: what the client publishes has waited so many seconds for an ingress cap, that of the connection, its token or the tenant; at most once a minute"},
	{Code: CodeBrokerUnavailable, Meaning: "the link to the other edges is down, or takes less than is published to the tenant; local delivery goes on"},
	{Code: CodeTryLater, Meaning: "a hook of the edge that has to allow it does not answer, or says so; try again later"},
	{Code: CodeNoHistory, Meaning: "no history contains the pattern of the RSUB, or keeps the channel of the publish with a key"},
	{Code: CodeTooManyChannels, Meaning: "`last` would give the newest messages of more than 1,024 channels"},
	{Code: CodeHistoryUnavailable, Meaning: "the history is out of reach: an RSUB goes on when it is back; a publish was not stored, and nobody gets it"},
	{Code: CodeUnconfirmed, Meaning: "whether the publish was stored, or to one connection was taken, is not known; the message may still come"},
	{Code: CodeNoSubscriber, Meaning: "with the feature `work_queue`: a confirmed publish to one connection; nobody has a subscription that matches, and nobody gets it"},
	{Code: CodeSubscribersBusy, Meaning: "with the feature `work_queue`: a confirmed publish to one connection; of those with a subscription that matches, none has credit and room for it, and nobody gets it"},
	{Code: CodeNoPresence, Meaning: "no presence of the edge contains the channel of the JOIN, or the pattern of the WHO"},
	{Code: CodeNoSubject, Meaning: "the token has no subject: a JOIN needs one"},
	{Code: CodeTooManyMembers, Meaning: "the tenant has as many members in this presence as it may have, or the subject half as many, or the edge knows as many as it can, or as it may of one issuer's"},
	{Code: CodeUnauthorized, Meaning: "WebTransport: the token is missing or not valid; to who has its secret, `:expired` or `:revoked` follows", Close: CloseUnauthorized},
	{Code: CodeForbidden, Argument: "<what>", Meaning: "WebTransport: the token does not allow this `ip`, `origin`, `region` or `protocol`, or a hook of the edge does not allow this `client`: then a colon and the reason follow", Close: CloseForbidden},
	{Code: CodeTokenExpired, Meaning: "the token has expired", Close: CloseUnauthorized},
	{Code: CodeTokenRevoked, Meaning: "the token was revoked", Close: CloseForbidden},
	{Code: CodeTokenUnverifiable, Meaning: "a shared token store was out of reach longer than `max_stale`, or cannot say whether this token was revoked, as another edge says", Close: CloseTryLater},
	{Code: CodeClosedByOperator, Meaning: "an operator closed the connection; the client may connect again while its token is valid", Close: CloseTryLater},
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
