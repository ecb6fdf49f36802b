package harness

func (e *Edge) DrainByAdminAPI() {
	e.T.Helper()
	e.AdminCall("POST", "/pubsub/drain", Object{}).Decode(e.T, 200, new(Object))
}
