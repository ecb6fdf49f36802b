package harness

func SubjectRequest(subject string, grants ...Object) Object {
	request := TokenRequest(grants...)
	request["subject"], request["info"] = subject, Object{"plan": "pro"}
	return request
}
