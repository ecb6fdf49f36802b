package harness

// PingUntilForbidden sends messages until the edge refuses the address that they
// come from: QUIC follows a client with one of its next packets.
func (s *Socket) PingUntilForbidden() {
	s.T.Helper()
	for range 10_000 {
		s.SendLine("PING")
		_, message, err := s.Read()
		switch {
		case err != nil:
			s.T.Fatalf("got %v, want ERR:forbidden:ip", err)
		case string(message) == "ERR:forbidden:ip":
			return
		case string(message) != "PONG":
			s.T.Fatalf("got %q", message)
		}
	}
	s.T.Fatal("the edge does not look at the address of messages")
}
