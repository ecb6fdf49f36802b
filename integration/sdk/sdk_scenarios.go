package sdk

import ()

func (s *Sub) Read() {
	s.C.T.Helper()
	s.C.Must(Command{Cmd: "read", Sub: s.Name})
}
