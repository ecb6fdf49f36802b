package harness

import (
	"github.com/quic-go/quic-go"
)

var EarlySettings = &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200}
