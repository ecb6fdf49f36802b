package harness

import ()

// The HTTP/3 settings of WebTransport, by the drafts of draft-ietf-webtrans-http3.
const (
	WtDraft2            = 0x2b603742 // ENABLE_WEBTRANSPORT, drafts 2 to 6
	WtMaxSessions       = 0x14e9cd29 // WT_MAX_SESSIONS, drafts 13 and 14
	WtEnabled           = 0x2c7cf000 // WT_ENABLED, draft 15 and later
	WtMaxData           = 0x2b61     // WT_INITIAL_MAX_DATA
	WtMaxStreamsUni     = 0x2b64     // WT_INITIAL_MAX_STREAMS_UNI
	WtMaxStreamsBidi    = 0x2b65     // WT_INITIAL_MAX_STREAMS_BIDI
	ExtendedConnect     = 0x08       // RFC 9220, section 3
	Http3Datagrams      = 0x33       // RFC 9297, section 2.1.1
	MaxFieldSectionSize = 0x06       // RFC 9114, section 7.2.4.1
	ControlStream       = 0x00       // RFC 9114, section 6.2.1
	SettingsFrame       = 0x04       // RFC 9114, section 7.2.4
	WtBidirectionalType = 0x41       // WT_STREAM, which begins a bidirectional stream
)
